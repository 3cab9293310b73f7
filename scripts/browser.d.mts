interface FoundBrowser {
  executablePath: string;
  env: Record<string, string>;
}
export function browserHere(root: string, path?: string): FoundBrowser | undefined;
export function fetchBrowser(root: string): Promise<FoundBrowser | undefined>;
