export const APP_NODE: number;
export function setupProblem(version: string): string | undefined;
export function startProblem(version: string): string | undefined;
export function serverIsUsable(versionLine: string): boolean;
