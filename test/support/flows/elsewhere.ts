import type { Stage } from './stage.ts';

/** Somebody starts an export in the platform's dashboard; answers its job id. */
export async function startsElsewhere(
  { platform }: Stage,
  { domain = 'docs.acme.com', apiKey = platform.apiKey } = {},
): Promise<string> {
  const answer = await platform.fetch('http://platform.invalid/v1/static-export/jobs', {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ domain }),
  });
  const { jobId } = (await answer.json()) as { jobId: string };
  return jobId;
}
