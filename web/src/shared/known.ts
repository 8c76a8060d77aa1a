// Made by web/wire_types.py from src/glassformer/lab/documents/lab.py: do not edit.

export interface Known {
  version: string;
  given: string;
  folders: string[];
  address: string;
}
