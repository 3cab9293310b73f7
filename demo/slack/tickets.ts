// Slack says "temporary" without a number (https://docs.slack.dev/apis/events-api/using-socket-mode).
const LIFE_MS = 30_000;

/** Tickets for WebSocket connections: each opens one connection, soon after it was given. */
export interface Tickets {
  issue(): string;
  /** Uses a ticket up; whether it was good. */
  use(ticket: string): boolean;
}

export function createTickets(nowMs: () => number, newId: (prefix: string) => string): Tickets {
  const issued = new Map<string, number>();
  return {
    issue() {
      const ticket = newId('ticket-');
      issued.set(ticket, nowMs());
      return ticket;
    },
    use(ticket) {
      const atMs = issued.get(ticket);
      issued.delete(ticket);
      return atMs !== undefined && nowMs() - atMs <= LIFE_MS;
    },
  };
}
