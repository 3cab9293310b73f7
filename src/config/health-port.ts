/**
 * Returns host and port of this process' health checks, from the environment alone: a health check must not depend on
 * the other settings. An empty variable counts as not set.
 */
export function healthAddressOf(env: NodeJS.ProcessEnv): string {
  const host = env.HOST?.trim() || '127.0.0.1';
  // The wildcard address cannot be requested.
  const asked = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host;
  return `${asked.includes(':') ? `[${asked}]` : asked}:${healthPortOf(env)}`;
}

function healthPortOf(env: NodeJS.ProcessEnv): string {
  const { DOCKET_ROLE: role, HEALTH_PORT: health, PORT: port } = env;
  const set = [role?.trim() === 'worker' ? health : undefined, port].find((value) => value?.trim());
  return set?.trim() ?? '3000';
}
