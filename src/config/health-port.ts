/**
 * Returns the port on which this process answers health checks, from the environment alone: a health check must not
 * depend on the other settings. An empty variable counts as not set.
 */
export function healthPortOf(env: NodeJS.ProcessEnv): string {
  const { DOCKET_ROLE: role, HEALTH_PORT: health, PORT: port } = env;
  const set = [role?.trim() === 'worker' ? health : undefined, port].find((value) => value?.trim());
  return set?.trim() ?? '3000';
}
