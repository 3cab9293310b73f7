export function linesDown(): { name: string; lines: number | undefined }[];
