import type { Block, KnownBlock } from '@slack/types';

/**
 * A chart of series over the same points, which `@slack/types` does not know:
 * https://docs.slack.dev/reference/block-kit/blocks/data-visualization-block
 */
export interface ChartBlock extends Block {
  type: 'data_visualization';
  title: string;
  chart: {
    type: 'bar' | 'line';
    series: { name: string; data: { label: string; value: number }[] }[];
    /** Each category has one point in every series. */
    axis_config: { categories: string[]; x_label?: string; y_label?: string };
  };
}

/** A block of a message. */
export type MessageBlock = KnownBlock | ChartBlock;
