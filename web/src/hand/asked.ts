// What is sent with every question of the page: the sheet, and how many decimals.

export interface Asked {
  title: string;
  kind: string;
  given: Record<string, string>;
  choices: Record<string, string>;
  digits: number;
  rounded: number | null;
}
