/** Series as promtool writes them, a value a minute. Without a job, one gets that of Docket. */
type Series = string[];

interface Cases {
  /** Series that make the alert, and no other one, fire after so many minutes, and not a minute sooner. */
  fires: [minute: number, series: Series][];
  /** Series that are close, and make no alert fire. */
  quiet: Series[];
}

/** How many minutes the quiet ones are watched. */
export const WATCHED = 60;

const problem = (name: string, level: string) =>
  `docket_problems{instance="a",name="${name}",level="${level}"} _ 1x60`;

/** Redis's commands, of which so many of 100 a minute take between 0.1 and 0.5 s. */
const commands = (slow: number): Series => [
  `docket_redis_command_duration_seconds_bucket{instance="a",le="0.1"} 0+${100 - slow}x60`,
  'docket_redis_command_duration_seconds_bucket{instance="a",le="0.5"} 0+100x60',
  'docket_redis_command_duration_seconds_bucket{instance="a",le="+Inf"} 0+100x60',
];

/** For each alert of deploy/prometheus/alerts.yml, what makes it fire and what does not. */
export const cases: Record<string, Cases> = {
  DocketDown: {
    fires: [[3, ['up{instance="b"} 1 0x60']]],
    quiet: [['up{instance="b"} 1 0 0 1x60'], ['up{instance="b"} 1x60', 'up{job="other"} 0x60']],
  },
  DocketAbsent: {
    fires: [
      [2, ['up{job="other"} 1x60']],
      [7, ['up{instance="b"} 1x4 stale']],
    ],
    quiet: [['up{instance="b"} 1x4 _ 1x60']],
  },
  DocketInstanceGone: {
    fires: [[46, ['up{instance="b"} 1x60', 'up{instance="c"} 1x40 stale']]],
    // The pods of an update: the third is there for a moment, and the second gets another name.
    quiet: [['up{instance="b"} 1x20 stale', 'up{instance="c"} _x18 1x60']],
  },
  DocketRestarting: {
    fires: [[12, ['process_start_time_seconds{instance="a"} 100x3 200x3 300x3 400x60']]],
    quiet: [['process_start_time_seconds{instance="a"} 100x3 200x3 300x60']],
  },
  DocketBusy: {
    fires: [[10, ['nodejs_eventloop_active_seconds_total{instance="a"} 0+58x60']]],
    quiet: [['nodejs_eventloop_active_seconds_total{instance="a"} 0+50x60']],
  },
  DocketRedisAway: {
    fires: [
      [2, ['docket_redis_up{instance="a"} 1 0x60']],
      [2, ['docket_redis_up{instance="a"} 1 0x60', problem('redis_unreachable', 'error')]],
      // Redis takes no new connection.
      [2, ['docket_redis_up{instance="a"} 1x60', problem('redis_unreachable', 'error')]],
    ],
    quiet: [['docket_redis_up{instance="a"} 1 0 1 1 0 1x60']],
  },
  DocketRedisSlow: {
    fires: [[3, commands(10)]],
    quiet: [commands(0), ['docket_redis_command_duration_seconds_bucket{instance="a",le="+Inf"} 7x60']],
  },
  DocketKeyRejected: {
    fires: [[2, ['docket_rejected_keys 0 1x60', problem('docs_key', 'error')]]],
    quiet: [['docket_rejected_keys 0x60']],
  },
  DocketOutboxLagging: {
    fires: [[6, ['docket_outbox_oldest_seconds{urgency="ending"} 0+60x60']]],
    quiet: [
      ['docket_outbox_oldest_seconds{urgency="ending"} 0 60 120 180 240 0 60 120 60x60'],
      ['docket_outbox_oldest_seconds{urgency="lowPriority"} 0+60x60'],
    ],
  },
  DocketQueueNotDraining: {
    fires: [[6, ['docket_queue_oldest_waiting_seconds{queue="docs-export"} 0+60x60']]],
    quiet: [['docket_queue_oldest_waiting_seconds{queue="docs-export"} 0 110 119x60']],
  },
  DocketJobGivenUp: {
    fires: [[3, ['docket_jobs_given_up_total{exported_job="export"} 0 0 0 1x60']]],
    quiet: [['docket_jobs_given_up_total{exported_job="export"} 7x60']],
  },
  DocketLocksLost: {
    fires: [[2, ['docket_lock_losses_total{queue="docs-export"} 0 0 2x60']]],
    quiet: [['docket_lock_losses_total{queue="docs-export"} 2x60']],
  },
  DocketQuestionsOld: {
    fires: [[16, ['docket_questions_older_than_a_day 0 1x60']]],
    quiet: [['docket_questions_older_than_a_day 0 1x10 0x60']],
  },
  DocketScheduleLate: {
    fires: [[6, ['docket_schedules{state="late"} 0 2x60']]],
    quiet: [['docket_schedules{state="late"} 0 1 1 0x60'], ['docket_schedules{state="paused"} 3x60']],
  },
  DocketProblem: {
    fires: [
      ...['docs_failing', 'slack_socket', 'slack_scope', 'slack_signature', 'redis_rights', 'no_worker'],
      'queue_paused',
    ].map((name) => [2, [problem(name, 'error')]]),
    quiet: [
      ['docket_problems{name="docs_failing",level="error"} _ 1 stale'],
      // Whatever is measured has an alert of its own.
      [problem('docs_key', 'error')],
    ],
  },
  DocketDeploymentFailing: {
    fires: ['deployment_refused', 'deployment_unreachable', 'deployment_workflow'].flatMap((name) => [
      [2, [problem(name, 'error')]],
      [2, [problem(name, 'warn')]],
    ]),
    quiet: [['docket_problems{name="deployment_refused",level="error"} _ 1 stale']],
  },
  DocketWarning: {
    fires: [
      [6, [problem('workspace_gone', 'warn')]],
      [6, [problem('key_expires', 'error')]],
      [6, [problem('record_damaged', 'error')]],
    ],
    quiet: [
      ['docket_problems{name="workspace_gone",level="warn"} _ 1 1 stale'],
      // These have alerts of their own, from what is measured.
      [problem('redis_slow', 'error')],
      [problem('redis_slow', 'warn')],
    ],
  },
};
