export function baseOf(dockerfile: string): string;
export function pinned(dockerfile: string, digest: string): string;
export function resolveDigest(
  image: string,
  registry?: string,
): Promise<{ digest: string; problem?: undefined } | { digest?: undefined; problem: string }>;
