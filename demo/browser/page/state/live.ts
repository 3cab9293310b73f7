import type { Action, Change, Outcome, Trouble, Visitor } from '../../protocol.ts';

const RETRY_MS = 1000;

/** Follows what a person sees. Returns how to stop. */
export function follow(
  as: Visitor,
  onChange: (change: Change) => void,
  onConnected: (connected: boolean) => void,
): () => void {
  let source: EventSource;
  let timer: ReturnType<typeof setTimeout> | undefined;
  function connect(): void {
    source = new EventSource(`/live?as=${as}`);
    source.onmessage = ({ data }: MessageEvent<string>) => {
      onConnected(true);
      onChange(JSON.parse(data));
    };
    source.onerror = () => {
      onConnected(false);
      // The browser itself gives up where the answer was no stream.
      if (source.readyState === EventSource.CLOSED) timer = setTimeout(connect, RETRY_MS);
    };
  }
  connect();
  return () => {
    clearTimeout(timer);
    source.close();
  };
}

export const act = (action: Action): Promise<Outcome> => post('/act', action);
export const trouble = (wanted: Trouble): Promise<Outcome> => post('/trouble', wanted);

async function post(path: string, body: unknown): Promise<Outcome> {
  try {
    const response = await fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return (await response.json()) as Outcome;
  } catch {
    return { ok: false, problem: 'The demo does not answer. Is it still running in its terminal?' };
  }
}
