// What the user says of a run: a title, and whether it is in the archive. Nothing of the run itself changes.
import { useState } from "preact/hooks";
import { json, LabError } from "../shared/api";
import { Fault } from "../shared/States";
import type { Row } from "./types";

export function Shelf({ row, onRows }: { row: Row; onRows: (rows: Row[]) => void }) {
  const [draft, setDraft] = useState<string | null>(null);
  const [error, setError] = useState<LabError>();
  const put = async (changes: { title?: string; archived?: boolean }) => {
    setError(undefined);
    try {
      onRows((await json<{ rows: Row[] }>("/api/train/shelve", { run: row.name, ...changes })).rows);
      setDraft(null);
    } catch (fault) {
      setError(fault as LabError);
    }
  };
  return (
    <span class="shelf">
      {draft === null ? (
        <button type="button" class="quiet" onClick={() => setDraft(row.title || row.name)}>
          rename
        </button>
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void put({ title: draft.trim() === row.name ? "" : draft.trim() });
          }}
        >
          <label>
            title <input value={draft} maxLength={80} onInput={(event) => setDraft(event.currentTarget.value)} />
          </label>{" "}
          <button type="submit">set</button>
        </form>
      )}
      <button type="button" class="quiet" title="the run stays on disk; the table leaves it out" onClick={() => void put({ archived: !row.archived })}>
        {row.archived ? "restore from the archive" : "archive"}
      </button>
      <Fault error={error} />
    </span>
  );
}
