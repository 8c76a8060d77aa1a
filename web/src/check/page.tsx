// Check: a worked solution, a claim or a quiz, with the mistakes named; hints first, the answer on request.
import { useAnswer } from "../shared/api";
import { Fault, Progress } from "../shared/States";
import { Tabs } from "../shared/Tabs";
import { Claim } from "./Claim";
import { Quiz } from "./Quiz";
import { Solution } from "./Solution";
import type { Known } from "./types";

export default function Check() {
  const known = useAnswer<Known>("/api/check/examples");
  const found = known.value;
  return (
    <>
      <h1>Check a solution or a claim, or take a quiz</h1>
      {found ? (
        <Tabs
          label="what to check"
          tabs={[
            { id: "solution", title: "A solution", content: () => <Solution known={found} /> },
            { id: "claim", title: "A claim", content: () => <Claim known={found} /> },
            { id: "quiz", title: "A quiz", content: () => <Quiz known={found} /> },
          ]}
        />
      ) : known.error ? (
        <Fault error={known.error} />
      ) : (
        <Progress />
      )}
    </>
  );
}
