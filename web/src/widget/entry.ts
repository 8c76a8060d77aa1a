// What a notebook loads: one module, with its style inside.
import style from "widget-style";
import { widget } from "./render";

export default widget(style);
