// Builds web/src into src/glassformer/lab/static, where it is committed: installing the package needs no Node.
//   node build.mjs            build
//   node build.mjs --out DIR  build into another folder (LAB_STATIC=DIR makes the browser tests serve it)
//   node build.mjs --check    exit 1 unless what is committed equals a fresh build, byte for byte
import * as esbuild from "esbuild";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const committed = join(here, "../src/glassformer/lab/static");
const MOST_BYTES = 1_000_000;

// KaTeX ships each font in three formats, and five families that no formula of ours uses; a browser slants the upright text face itself.
const katexFonts = {
  name: "katex-fonts",
  setup(build) {
    build.onLoad({ filter: /katex\.min\.css$/ }, ({ path }) => {
      const unused = /@font-face\{[^}]*?KaTeX_(Caligraphic|Fraktur|SansSerif|Script|Typewriter)[^}]*\}/g;
      const older = /,url\([^)]*\.(?:woff|ttf)\) format\("(?:woff|truetype)"\)/g;
      const slanted = /@font-face\{[^}]*?KaTeX_Main;font-style:italic[^}]*\}/g;
      const css = readFileSync(path, "utf8").replace(unused, "").replace(slanted, "").replace(older, "");
      return { contents: css, loader: "css", resolveDir: dirname(path) };
    });
  },
};

const options = (outdir) => ({
  absWorkingDir: here,
  preserveSymlinks: true, // the same bundle where node_modules is a link
  entryPoints: { app: "src/app.tsx" },
  outdir,
  bundle: true,
  format: "esm",
  splitting: true,
  minify: true,
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  charset: "utf8",
  legalComments: "none",
  chunkNames: "[name]-[hash]",
  assetNames: "[name]-[hash]",
  loader: { ".woff2": "file" },
  plugins: [katexFonts],
  logLevel: "warning",
});

// The widget of notebooks: one module, its style inside it. The page's style is put under one class, so that it reaches nothing else.
const widgetStyle = {
  name: "widget-style",
  setup(build) {
    build.onResolve({ filter: /^widget-style$/ }, () => ({ path: "style", namespace: "widget-style" }));
    build.onLoad({ filter: /.*/, namespace: "widget-style" }, async () => {
      const read = (name) => readFileSync(join(here, "src", name), "utf8");
      const page = read("shared/theme.css")
        .replace(/@keyframes[^{]*\{(?:[^{}]*\{[^}]*\})*\s*\}/g, "")
        .replace(/^(:root|html|body)/gm, "&");
      const nested = `.glassformer-widget { ${page} ${read("trace/trace.css")} } ${read("widget/widget.css")}`;
      const { code } = await esbuild.transform(nested, { loader: "css", minify: true, target: "chrome100" });
      return { contents: code, loader: "text" };
    });
  },
};

const widget = (outdir) => ({ ...options(outdir), entryPoints: { widget: "src/widget/entry.ts" }, splitting: false, plugins: [widgetStyle] });

const listed = (folder) =>
  readdirSync(folder, { recursive: true })
    .map((name) => join(folder, String(name)))
    .filter((path) => statSync(path).isFile())
    .sort();

async function fresh() {
  const folder = mkdtempSync(join(tmpdir(), "lab-"));
  await esbuild.build(options(folder));
  await esbuild.build(widget(folder));
  cpSync(join(here, "src/index.html"), join(folder, "index.html"));
  const bytes = listed(folder).reduce((sum, path) => sum + statSync(path).size, 0);
  if (bytes > MOST_BYTES) throw new Error(`the bundle has ${bytes} bytes; at most ${MOST_BYTES}`);
  return { folder, bytes };
}

const made = await fresh();
if (process.argv.includes("--check")) {
  const [ours, theirs] = [committed, made.folder].map(
    (folder) => new Map(listed(folder).map((path) => [relative(folder, path), readFileSync(path)])),
  );
  const different = [...new Set([...ours.keys(), ...theirs.keys()])].filter(
    (name) => !ours.has(name) || !theirs.has(name) || !ours.get(name).equals(theirs.get(name)),
  );
  if (different.length) console.error(`the committed bundle is not what web/ builds: ${different.join(", ")}. Run 'make web'.`);
  else console.log(`the committed bundle equals a fresh build (${theirs.size} files)`);
  process.exitCode = different.length ? 1 : 0;
} else {
  // New files first, then what is no longer needed: a lab that is running goes on.
  const named = process.argv.indexOf("--out");
  const target = named > 0 ? process.argv[named + 1] : committed;
  mkdirSync(target, { recursive: true });
  cpSync(made.folder, target, { recursive: true });
  for (const path of listed(target)) if (!existsSync(join(made.folder, relative(target, path)))) rmSync(path);
  console.log(`${made.bytes} bytes in ${relative(process.cwd(), target)}`);
}
rmSync(made.folder, { recursive: true });
