import { z } from 'zod';
import { ts } from './arguments.ts';
import type { StandInFile } from './files.ts';
import { botUser, channelById, type Inside, joinedChannel } from './inside.ts';
import { defineMethod, type Method } from './method.ts';
import { threadOf } from './methods-chat.ts';
import { Refused } from './refused.ts';

/** Refuses the call where a test wants the app to lack the scope. */
function requireFiles({ refuses }: Inside, scope: string): void {
  if (refuses.files === 'scope') throw new Refused('missing_scope', { needed: scope }, 'ordered');
}

const getUploadURLExternal = defineMethod({
  tier: 'T4',
  scopes: ['files:write'],
  args: z.object({
    filename: z.string().min(1),
    length: z.coerce.number().int().positive(),
    alt_txt: z.string().max(1000).optional(),
    snippet_type: z.string().optional(),
  }),
  run(inside, { filename, length }) {
    requireFiles(inside, 'files:write');
    if (inside.refuses.files === 'disabled') throw new Refused('file_uploads_disabled', {}, 'ordered');
    const { id, secret } = inside.files.begin(filename, length);
    return { file_id: id, upload_url: `${inside.baseUrl()}/upload/v1/${secret}` };
  },
});

const completeUploadExternal = defineMethod({
  tier: 'T4',
  scopes: ['files:write'],
  args: z.object({
    files: z
      .array(z.object({ id: z.string(), title: z.string().optional() }))
      .min(1)
      .max(10),
    channel_id: z.string().optional(),
    thread_ts: ts.optional(),
    initial_comment: z.string().optional(),
  }),
  run(inside, args) {
    requireFiles(inside, 'files:write');
    const channel = args.channel_id === undefined ? undefined : joinedChannel(inside, args.channel_id);
    if (channel?.archived) throw new Refused('is_archived');
    if (channel === undefined && args.thread_ts !== undefined) throw new Refused('invalid_arguments');
    const destination = channel && {
      channel,
      user: botUser(inside),
      threadTs: threadOf(inside, channel, args.thread_ts),
    };
    const uploads = args.files.map(({ id, title }) => {
      // Slack does not say what a second call does. Refused, one that Docket repeats blindly is seen.
      const upload = inside.files.received(id);
      if (!upload) throw new Refused('file_not_found');
      return { upload, title: title ?? upload.name };
    });
    const files = uploads.map(({ upload, title }) => inside.files.finish(upload, title, destination));
    return { files: files.map(({ id, title }) => ({ id, title })) };
  },
});

const info = defineMethod({
  tier: 'T4',
  scopes: ['files:read'],
  args: z.object({ file: z.string() }),
  run(inside, args) {
    requireFiles(inside, 'files:read');
    const file = inside.files.finished.find(({ id }) => id === args.file);
    // That is how it is found out whether an upload was finished.
    if (!file) throw new Refused('file_not_found', {}, 'expected');
    return { file: fileJson(inside, file) };
  },
});

function fileJson({ workspace }: Inside, file: StandInFile): Record<string, unknown> {
  const { id, name, title, bytes, mimetype = '', sharedIn } = file;
  const places = new Set(sharedIn.map(({ channel }) => channel));
  const sharesOf = (isPublic: boolean) =>
    Object.fromEntries(
      [...places]
        .filter((channel) => (channelById(workspace, channel)?.kind === 'public') === isPublic)
        .map((channel) => [
          channel,
          sharedIn
            .filter((share) => share.channel === channel)
            .map(({ ts: at, threadTs }) => ({ ts: at, ...(threadTs && { thread_ts: threadTs }) })),
        ]),
    );
  const [open, closed] = [sharesOf(true), sharesOf(false)];
  return {
    id,
    name,
    title,
    mimetype,
    size: bytes.byteLength,
    user: workspace.bot.userId,
    shares: {
      ...(Object.keys(open).length > 0 && { public: open }),
      ...(Object.keys(closed).length > 0 && { private: closed }),
    },
  };
}

export const fileMethods: Record<string, Method> = {
  'files.getUploadURLExternal': getUploadURLExternal,
  'files.completeUploadExternal': completeUploadExternal,
  'files.info': info,
};
