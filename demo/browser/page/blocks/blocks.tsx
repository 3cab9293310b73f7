import type { ReactNode } from 'react';
import type { Block } from '../../protocol.ts';
import { type Node, nodeOf, nodesOf, stringOf, textOf } from './block.ts';
import { Chart } from './chart.tsx';
import { useAround } from './context.ts';
import { Control } from './controls.tsx';
import { Text } from './inline.tsx';
import { Input } from './input.tsx';
import { keyed } from './keyed.ts';
import { DRAWN_BY_LIBRARY, LibraryBlock } from './library.tsx';
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
    case 'context_actions':
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
    case 'card':
      return <Card block={block} id={id} />;
    case 'carousel':
      return <Blocks blocks={nodesOf(block.elements) as unknown as Block[]} />;
    case 'container':
      return <Container block={block} />;
    default:
      return DRAWN_BY_LIBRARY.includes(block.type) ? (
        <LibraryBlock block={block} />
      ) : (
        <Undrawn block={block} />
      );
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

function Card({ block, id }: { block: Block; id: string }): ReactNode {
  const texts = ['title', 'subtitle', 'body', 'subtext'].flatMap((name) => {
    const text = nodeOf(block[name]);
    return text ? [{ name, text }] : [];
  });
  const [hero, icon] = [nodeOf(block.hero_image), nodeOf(block.icon)];
  return (
    <div className="card">
      {hero && <Picture of={hero} />}
      {icon && <Picture of={icon} small />}
      {texts.map(({ name, text }) => (
        <div key={name} className={`lines ${name}`}>
          <Text of={text} />
        </div>
      ))}
      <div className="block actions">
        {nodesOf(block.actions).map((element) => (
          <Control key={String(element.action_id)} blockId={id} element={element} />
        ))}
      </div>
    </div>
  );
}

function Container({ block }: { block: Block }): ReactNode {
  const richTitle = nodeOf(block.rich_text_title);
  const subtitle = nodeOf(block.subtitle);
  const head = (
    <>
      {richTitle ? <RichText of={richTitle} /> : <b>{textOf(block.title)}</b>}
      {subtitle && (
        <div className="subtitle">
          <Text of={subtitle} />
        </div>
      )}
    </>
  );
  const inside = <Blocks blocks={nodesOf(block.child_blocks) as unknown as Block[]} />;
  if (block.is_collapsible !== true)
    return (
      <div className="card">
        {head}
        {inside}
      </div>
    );
  return (
    <details className="card" open={block.default_collapsed !== true}>
      <summary>{head}</summary>
      {inside}
    </details>
  );
}
