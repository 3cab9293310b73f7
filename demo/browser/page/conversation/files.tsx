import type { ReactNode } from 'react';
import type { Message } from '../../protocol.ts';

const kindOf = (name: string) => (/\.([a-z0-9]+)$/i.exec(name)?.[1] ?? 'file').toUpperCase();

/** Pictures are shown, other files can be downloaded. */
export function Files({ files }: { files: Message['files'] }): ReactNode {
  return files.map(({ id, name, mimetype, url }) => {
    if (url !== undefined && mimetype?.startsWith('image/'))
      return (
        <figure key={id} className="picture">
          <figcaption>{name}</figcaption>
          <a href={url} target="_blank" rel="noopener noreferrer">
            <img src={url} alt={name} />
          </a>
        </figure>
      );
    return (
      <div key={id} className="file">
        <span className="file-kind" aria-hidden="true">
          {kindOf(name)}
        </span>
        <span className="file-name">{name}</span>
        {url !== undefined && (
          <a className="button" href={url} download={name} aria-label={`Download ${name}`}>
            Download
          </a>
        )}
      </div>
    );
  });
}
