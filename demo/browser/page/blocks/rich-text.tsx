import type { ReactNode } from 'react';
import { type Node, nodesOf } from './block.ts';
import { RichInline } from './inline.tsx';
import { keyed } from './keyed.ts';

export function RichText({ of }: { of: Node }): ReactNode {
  return (
    <div className="rich-text">
      {keyed(nodesOf(of.elements)).map(({ key, item }) => (
        <RichPart key={key} of={item} />
      ))}
    </div>
  );
}

function RichPart({ of }: { of: Node }): ReactNode {
  switch (of.type) {
    case 'rich_text_preformatted':
      return (
        <pre>
          <RichInline elements={of.elements} />
        </pre>
      );
    case 'rich_text_quote':
      return (
        <blockquote>
          <RichInline elements={of.elements} />
        </blockquote>
      );
    case 'rich_text_list': {
      const List = of.style === 'ordered' ? 'ol' : 'ul';
      const start = of.style === 'ordered' ? { start: Number(of.offset ?? 0) + 1 } : {};
      return (
        <List className={`indent-${Number(of.indent ?? 0)}`} {...start}>
          {keyed(nodesOf(of.elements)).map(({ key, item }) => (
            <li key={key}>
              <RichInline elements={item.elements} />
            </li>
          ))}
        </List>
      );
    }
    default:
      return (
        <div>
          <RichInline elements={of.elements} />
        </div>
      );
  }
}
