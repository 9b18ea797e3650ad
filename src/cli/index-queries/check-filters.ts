/** Reports filters that cannot match: an unknown agent is an error; any other name that no session has is a warning. */
import type { App, UnknownName } from '../../app.ts'
import { AppError } from '../../model/error.ts'
import { localize } from '../language.ts'
import { writeErr } from '../output.ts'
import { type FilterOptions, resolveProject } from './filters.ts'

/** For the options of a list or a report. Needs an up-to-date index. */
export async function checkFilterOptions(
  app: App,
  { agent, project, model, tool, tag }: FilterOptions & { readonly tag?: string },
): Promise<void> {
  await report(
    await app.unknownNames({
      ...(agent !== undefined && { agents: [agent] }),
      ...(project !== undefined && { project: resolveProject(project) }),
      ...(model !== undefined && { model }),
      ...(tool !== undefined && { tool }),
      tag,
    }),
  )
}

/** For the filters in the text of a search, and for words that only look like one. Needs an up-to-date index. */
export const checkQueryFilters = async (app: App, query: string): Promise<void> =>
  report(await app.unknownNames({}, query))

/** Throws `bad_usage` for an agent that neither this version nor the index knows. */
export const checkAgent = async (app: App, typed: string): Promise<void> =>
  report(await app.unknownNames({ agents: [typed] }))

async function report(unknown: readonly UnknownName[]): Promise<void> {
  for (const { kind, text } of unknown) {
    if (kind === 'agent') throw new AppError('bad_usage', text)
    await writeErr(`fumi: ${localize(text)}\n`)
  }
}
