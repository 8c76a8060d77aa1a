// The lab: six pages, one address each. A page is fetched when it is first opened.
import "./shared/theme.css";
import "katex/dist/katex.min.css";
import "uplot/dist/uPlot.min.css";
import "./walk/walk.css";
import "./bench/bench.css";
import "./trace/trace.css";
import "./hand/hand.css";
import "./train/train.css";
import "./check/check.css";
import { render, type ComponentType } from "preact";
import { useEffect, useErrorBoundary, useState } from "preact/hooks";
import { enter, known, LabError } from "./shared/api";
import { takeKey } from "./shared/key";
import { exported, hrefOf } from "./shared/exported";
import { Go } from "./shared/Go";
import { follow, goTo, path, query } from "./shared/place";
import { Empty, Fault, Progress } from "./shared/States";
import { switchTheme, theme, wearTheme } from "./shared/theme";

interface Page {
  address: string;
  title: string;
  about: string;
  load: () => Promise<{ default: ComponentType }>;
}

const PAGES: Page[] = [
  { address: "/walk", title: "Start", about: "see what a Transformer does with your sentence, in eight scenes", load: () => import("./walk/page") },
  { address: "/bench", title: "Bench", about: "count the parameters, shapes and cost of any Transformer", load: () => import("./bench/page") },
  { address: "/trace", title: "Trace", about: "run a model on a sentence or an image and open every number", load: () => import("./trace/page") },
  { address: "/hand", title: "By hand", about: "work a small problem step by step", load: () => import("./hand/page") },
  { address: "/train", title: "Train", about: "train a small model, compare runs, look at the mistakes", load: () => import("./train/page") },
  { address: "/check", title: "Check", about: "check a solution, a claim, or take a quiz", load: () => import("./check/page") },
];

const shownPages = exported ? PAGES.slice(0, 2) : PAGES; // the others need a lab that computes

// Each page remembers its own address while another is open.
const left = new Map<string, string>();

function Link({ page, here }: { page: Page; here: boolean }) {
  const before = () => {
    left.set(path.peek(), path.peek() + (query.peek().size ? `?${query.peek()}` : ""));
    return left.get(page.address) ?? page.address;
  };
  return (
    <Go to={page.address} before={before} aria-current={here ? "page" : undefined} title={page.about}>
      {page.title}
    </Go>
  );
}

function Opened({ page }: { page: Page }) {
  const [found, setFound] = useState<{ of: Page; view: ComponentType } | null>(null);
  const [lost, setLost] = useState(false);
  useEffect(() => {
    let wanted = true;
    page.load().then(
      (module) => wanted && setFound({ of: page, view: module.default }),
      () => wanted && setLost(true),
    );
    return () => {
      wanted = false;
    };
  }, [page]);
  if (lost) return <Empty>This page could not be loaded. Is the lab still running? Reload to try again.</Empty>;
  if (found?.of !== page) return <Progress />;
  return <Caught view={found.view} key={page.address} />;
}

/** A page that fails says so, and the others stay open. */
function Caught({ view: View }: { view: ComponentType }) {
  const [error, forget] = useErrorBoundary((fault: Error) => console.error(fault));
  if (!error) return <View />;
  return (
    <>
      <Fault error={new LabError("This page failed because of a bug in Glassformer. See the browser console for details.")} />
      <button type="button" onClick={forget}>
        try again
      </button>
    </>
  );
}

function App() {
  const page = shownPages.find((candidate) => candidate.address === path.value);
  const title = page?.title ?? "Page not found";
  useEffect(() => {
    document.title = `${title} · Glassformer lab`;
  }, [title]);
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header class="top">
        <a class="name" href={hrefOf("/walk")} title={`Glassformer ${known.version}`}>
          Glassformer
        </a>
        <nav aria-label="pages">
          {shownPages.map((candidate) => (
            <Link page={candidate} here={candidate === page} />
          ))}
        </nav>
        <button type="button" class="quiet" onClick={switchTheme}>
          {theme.value === "light" ? "dark theme" : "light theme"}
        </button>
      </header>
      <main id="main" tabIndex={-1}>
        {page ? <Opened page={page} /> : <Empty>There is no page at this address. Choose one of the pages above.</Empty>}
      </main>
    </>
  );
}

function Locked() {
  return (
    <main>
      <h1>This page has no key to the lab</h1>
      <p>
        Open the address that the lab printed when it started; it ends in <code>#key=…</code>. Each start creates a new key, so that other users of this machine have no access.
      </p>
      <p class="soft">
        If you no longer have that address, stop the lab with Ctrl-C and start it again: <code>glassformer lab</code>.
      </p>
    </main>
  );
}

const root = document.getElementById("app")!;

async function begin(): Promise<void> {
  wearTheme();
  takeKey();
  // An address that is pasted over this one, with another key, loads nothing by itself.
  addEventListener("hashchange", () => takeKey() && location.reload());
  follow();
  const refused = await enter().then(
    () => null,
    (error: LabError) => error,
  );
  root.textContent = "";
  if (refused?.status === 401) {
    document.title = "no key · Glassformer lab";
    return render(<Locked />, root);
  }
  if (refused) {
    return render(
      <main>
        <Fault error={refused} />
      </main>,
      root,
    );
  }
  if (path.value === "/") goTo(known.address, "replace");
  render(<App />, root);
}

void begin();
