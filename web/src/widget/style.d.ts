// Made by build.mjs: the style of the pages, under one class.
declare module "widget-style" {
  const text: string;
  export default text;
}
