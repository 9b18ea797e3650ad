/** Says in which sessions an answer looked, what its filters hide, and how to look further. */

import { withoutHome } from './citation.ts'
import type { HiddenHits } from './find-turns.ts'
import { asDataLine } from './foreign-text.ts'
import type { Scope } from './scope.ts'

export function describeScope({ project, agent, since }: Scope, home: string): string {
  return [
    project === undefined ? 'all projects' : `project ${asDataLine(withoutHome(project, home))}`,
    ...(agent === undefined ? [] : [`agent ${agent}`]),
    ...(since === undefined ? [] : [`since ${new Date(since).toISOString().slice(0, 16)}Z`]),
  ].join(', ')
}

const WAY_OUT: { readonly [filter in HiddenHits['filter']]: string } = {
  project: 'project: "all" shows them',
  agent: 'leave out agent to see them',
  since: 'leave out since to see them',
  kind: 'leave out kind to see them',
  'calling session': 'it is your own conversation',
}

/** One line for each filter, also for those that hid nothing. */
export function describeHidden(hidden: readonly HiddenHits[], { excluded }: Scope): readonly string[] {
  const lines = hidden.map(
    ({ filter, count }) =>
      `${filter} hid ${count} ${count === 1 ? 'hit' : 'hits'}${count > 0 ? ` (${WAY_OUT[filter]})` : ''}`,
  )
  const owner =
    excluded.length === 0
      ? []
      : [
          `the owner excludes ${excluded.length} ${excluded.length === 1 ? 'session' : 'sessions'}, whose hits are not counted`,
        ]
  const all = [...lines, ...owner]
  return all.length === 0 ? [] : [`Filters: ${all.join('; ')}.`]
}
