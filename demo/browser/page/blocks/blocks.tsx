import type { ReactNode } from 'react';
import type { Block } from '../../protocol.ts';
import { type Node, nodeOf, nodesOf, stringOf, textOf } from './block.ts';
import { Chart } from './chart.tsx';
import { useAround } from './context.ts';
import { Control } from './controls.tsx';
import { Text } from './inline.tsx';
import { Input } from './input.tsx';
import { keyed } from './keyed.ts';
import { LibraryBlock } from './library.tsx';
import { RichText } from './rich-text.tsx';
import { DataTable, Table } from './table.tsx';

/** Draws blocks one below the other. One that cannot be drawn is shown as such. */
export function Blocks({ blocks }: { blocks: readonly Block[] }): ReactNode {
  return (
    <div className="blocks">
      {keyed(blocks).map(({ key, item: block }) => (
        <div className={`block ${block.type}`} key={block.block_id ?? key}>
          <OneBlock block={block} />
        </div>
      ))}
    </div>
  );
}

function OneBlock({ block }: { block: Block }): ReactNode {
  const id = block.block_id ?? '';
  switch (block.type) {
    case 'section':
      return <Section block={block} id={id} />;
    case 'header': {
      const Tag = `h${Math.min(6, Number(block.level ?? 1) + 1)}` as 'h2';
      return (
        <Tag>
          <Text of={nodeOf(block.text) ?? {}} />
        </Tag>
      );
    }
    case 'context':
      return keyed(nodesOf(block.elements)).map(({ key, item: element }) =>
        element.type === 'image' ? (
          <Picture key={key} of={element} small />
        ) : (
          <span key={key}>
            <Text of={element} />
          </span>
        ),
      );
    case 'actions':
      return nodesOf(block.elements).map((element) => (
        <Control key={String(element.action_id)} blockId={id} element={element} />
      ));
    case 'divider':
      return <hr />;
    case 'image':
      return (
        <figure className="picture">
          {block.title !== undefined && <figcaption>{textOf(block.title)}</figcaption>}
          <Picture of={block} />
        </figure>
      );
    case 'input':
      return <Input block={block} />;
    case 'rich_text':
      return <RichText of={block} />;
    case 'table':
      return <Table of={block} />;
    case 'data_table':
      return <DataTable of={block} />;
    case 'data_visualization':
      return <Chart of={block} />;
    case 'markdown':
      return <LibraryBlock block={block} />;
    default:
      return <Undrawn block={block} />;
  }
}

/** A block of a type that came up after this page was written. */
function Undrawn({ block }: { block: Block }): ReactNode {
  return (
    <details className="undrawn">
      <summary>Block type {block.type} cannot be drawn here</summary>
      <pre>{JSON.stringify(block, null, 2)}</pre>
    </details>
  );
}

function Section({ block, id }: { block: Block; id: string }): ReactNode {
  const text = nodeOf(block.text);
  const fields = nodesOf(block.fields);
  const accessory = nodeOf(block.accessory);
  return (
    <>
      <div className="section-text">
        {text && (
          <div className="lines">
            <Text of={text} />
          </div>
        )}
        {fields.length > 0 && (
          <div className="fields">
            {keyed(fields).map(({ key, item: field }) => (
              <div key={key} className="lines">
                <Text of={field} />
              </div>
            ))}
          </div>
        )}
      </div>
      {accessory && (
        <div className="accessory">
          {accessory.type === 'image' ? (
            <Picture of={accessory} small />
          ) : (
            <Control blockId={id} element={accessory} />
          )}
        </div>
      )}
    </>
  );
}

/** Pictures come from this origin alone: of another one, their text is shown. */
function Picture({ of, small = false }: { of: Node; small?: boolean }): ReactNode {
  const { scene } = useAround();
  const file = stringOf(nodeOf(of.slack_file)?.id);
  const as = scene.workspace?.me.name ?? '';
  const source = file === undefined ? stringOf(of.image_url) : `/files/${encodeURIComponent(file)}?as=${as}`;
  return <img src={source} alt={stringOf(of.alt_text) ?? ''} className={small ? 'small' : ''} />;
}
