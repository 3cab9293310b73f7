/**
 * A Slack date in UTC: "2026-09-20 14:00 UTC". The words around the `{date…}` and `{time…}` of Slack's format stay.
 * `timestamp` is in seconds; one that is no time gives the fallback.
 */
export function formatDate(timestamp: unknown, format: string, fallback: string): string {
  const seconds = typeof timestamp === 'string' && timestamp.trim() === '' ? Number.NaN : Number(timestamp);
  const at = new Date(seconds * 1000);
  if (Number.isNaN(at.getTime())) return fallback;
  const [day = '', time = ''] = at.toISOString().split('T');
  const minutes = `${time.slice(0, 5)} UTC`;
  if (format.trim() === '') return fallback || `${day} ${minutes}`;
  return format.replace(/\{([a-z_]+)\}/g, (_, token) => {
    if (token === 'time') return minutes;
    if (token === 'time_secs') return `${time.slice(0, 8)} UTC`;
    return token === 'ago' ? `${day} ${minutes}` : day;
  });
}
