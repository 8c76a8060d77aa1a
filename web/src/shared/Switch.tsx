// One of a few choices, side by side.
interface SwitchProps {
  label: string;
  value: string;
  choices: [string, string][]; // value, words
  onChange: (value: string) => void;
}

export function Switch({ label, value, choices, onChange }: SwitchProps) {
  return (
    <span class="switch" role="group" aria-label={label}>
      {choices.map(([id, words]) => (
        <button type="button" aria-pressed={id === value} onClick={() => onChange(id)}>
          {words}
        </button>
      ))}
    </span>
  );
}
