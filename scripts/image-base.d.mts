export const FILES: string[];
export function imagesIn(text: string): { image: string; digest: string | undefined }[];
export function pinned(text: string, digests: Map<string, string>): string;
