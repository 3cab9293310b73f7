import { randomUUID } from 'node:crypto';
import type { Channel, User, Workspace } from './workspace.ts';

/** What Slack makes of names; others are a stream of bytes. */
const MIME_TYPES: Record<string, string> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  csv: 'text/csv',
};

/** A file whose upload was finished. */
export interface StandInFile {
  id: string;
  name: string;
  title: string;
  bytes: Uint8Array;
  /** Missing until Slack has looked at the file, a little after its upload. */
  mimetype?: string;
  /** The messages that it stands in, which come as late. */
  sharedIn: { channel: string; ts: string; threadTs?: string }[];
}

/** An upload that is not finished. */
interface Upload {
  id: string;
  name: string;
  length: number;
  secret: string;
  bytes?: Uint8Array;
}

/** Where a file is to be shared. */
interface Destination {
  channel: Channel;
  user: User;
  threadTs: string | undefined;
}

/** The files of the bot. Those of people are names in their messages. */
export interface Files {
  finished: StandInFile[];
  begin(name: string, length: number): Upload;
  /** Takes bytes for an address; whether it is one, and still waits for so many. */
  receive(secret: string, bytes: Uint8Array): boolean;
  /** The upload, when all of its bytes are here and nobody has finished it. */
  received(id: string): Upload | undefined;
  finish(upload: Upload, title: string, destination: Destination | undefined): StandInFile;
  /** Leaves files as they are that are not ready yet. */
  stop(): void;
}

export function createFiles(workspace: Workspace, readyAfterMs: number): Files {
  const finished: StandInFile[] = [];
  const uploads: Upload[] = [];
  const timers = new Set<NodeJS.Timeout>();

  function makeReady(file: StandInFile, destination: Destination | undefined): void {
    file.mimetype = MIME_TYPES[file.name.split('.').at(-1) ?? ''] ?? 'application/octet-stream';
    if (destination) {
      const { id, name } = file;
      const sent = workspace.post({ text: '', blocks: [], files: [{ id, name }], ...destination }, []);
      const { channel, ts, threadTs } = sent;
      file.sharedIn.push({ channel, ts, ...(threadTs !== undefined && { threadTs }) });
    }
    workspace.changed();
  }

  return {
    finished,
    begin(name, length) {
      const upload = { id: workspace.newId('F'), name, length, secret: randomUUID() };
      uploads.push(upload);
      return upload;
    },
    receive(secret, bytes) {
      const upload = uploads.find((one) => one.secret === secret && one.bytes === undefined);
      if (upload?.length !== bytes.byteLength) return false;
      upload.bytes = bytes;
      return true;
    },
    received: (wanted) => uploads.find(({ id, bytes }) => id === wanted && bytes !== undefined),
    finish(upload, title, destination) {
      uploads.splice(uploads.indexOf(upload), 1);
      const { id, name, bytes = new Uint8Array() } = upload;
      const file: StandInFile = { id, name, title, bytes, sharedIn: [] };
      finished.push(file);
      const timer = setTimeout(() => {
        timers.delete(timer);
        makeReady(file, destination);
      }, readyAfterMs);
      timers.add(timer);
      timer.unref();
      return file;
    },
    stop() {
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
    },
  };
}
