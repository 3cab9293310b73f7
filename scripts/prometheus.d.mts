export function findPrometheus(
  root: string,
  path?: string,
): Promise<{ prometheus: string; promtool: string } | undefined>;
