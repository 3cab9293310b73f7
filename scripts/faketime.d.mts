export function findFaketime(root: string): Promise<string | undefined>;
