/** Reports filters that cannot match: an unknown agent is an error; any other name that no session has is a warning. */
import { type App, describeQuery } from '../../app.ts'
import { foldText } from '../../lib/text.ts'
import { AppError } from '../../model/error.ts'
import { nearestName } from '../../model/nearest-name.ts'
import { type Phrase, phrase } from '../../model/phrase.ts'
import { localize } from '../language.ts'
import { writeErr } from '../output.ts'
import { type FilterOptions, resolveProject } from './filters.ts'

/** For the options of a list or a report. Needs an up-to-date index. */
export async function checkFilterOptions(app: App, { agent, project, model, tool }: FilterOptions): Promise<void> {
  if (agent !== undefined) await checkAgent(app, agent)
  const isUsed = (filter: Parameters<App['list']>[0]): boolean =>
    app.list({ ...filter, kind: 'any', children: 'all', limit: 0 }).total > 0
  const { tools, models } = app.index.choices()
  if (tool !== undefined && !isUsed({ tool })) await warn(UNUSED.tool(tool), tool, valuesOf(tools))
  if (model !== undefined && !isUsed({ model })) await warn(UNUSED.model(model), model, valuesOf(models))
  if (project !== undefined && !isUsed({ project: resolveProject(project) }))
    await warn(UNUSED.project(project), project, projectNames(app))
}

/** For the filters in the text of a search, and for words that only look like one. Needs an up-to-date index. */
export async function checkQueryFilters(app: App, query: string): Promise<void> {
  const { filters, unknownFilters } = describeQuery(query)
  for (const { text, name, nearest } of unknownFilters)
    await writeWarning(
      joinPhrases(
        phrase(
          `there is no filter "${name}:", so ${text} is searched as text.`,
          `「${name}:」という条件はないため、${text} を語として探します。`,
        ),
        didYouMean(nearest && `${nearest}:`),
      ),
    )
  const { tools, models, projects } = app.index.choices()
  for (const { key, value } of filters) {
    const wanted = foldText(value)
    const isPartOf = (one: { readonly value: string }): boolean => foldText(one.value).includes(wanted)
    if (key === 'agent') await checkAgent(app, wanted)
    else if (key === 'tool' && !tools.some((one) => foldText(one.value) === wanted))
      await warn(UNUSED.tool(value), value, valuesOf(tools))
    else if (key === 'model' && !models.some(isPartOf)) await warn(UNUSED.model(value), value, valuesOf(models))
    else if (key === 'project' && !projects.some(isPartOf)) await warn(UNUSED.project(value), value, projectNames(app))
    else if (key === 'tag') {
      const tags = new Set(app.annotations.list().flatMap((annotation) => annotation.tags))
      if (![...tags].some((tag) => foldText(tag) === wanted)) await warn(UNUSED.tag(value), value, tags)
    }
  }
}

/** Throws `bad_usage` for an agent that neither this version nor the index knows. */
export async function checkAgent(app: App, typed: string): Promise<void> {
  const known = await app.agentIds()
  if (known.some((id) => id === typed)) return
  throw new AppError(
    'bad_usage',
    joinPhrases(
      phrase(`unknown agent "${typed}".`, `エージェント「${typed}」はありません。`),
      didYouMean(nearestName(typed, known)),
      phrase(` Available: ${known.join(', ')}`, `使えるもの: ${known.join('、')}`),
    ),
  )
}

/** Why a name matches nothing. */
const UNUSED = {
  tool: (name: string) => phrase(`no session uses the tool "${name}".`, `ツール「${name}」を使った会話はありません。`),
  model: (name: string) => phrase(`no session uses the model "${name}".`, `モデル「${name}」の会話はありません。`),
  project: (name: string) =>
    phrase(`no session is from the directory "${name}".`, `ディレクトリー「${name}」の会話はありません。`),
  tag: (name: string) => phrase(`no session has the tag "${name}".`, `タグ「${name}」の会話はありません。`),
} as const

const valuesOf = (choices: readonly { readonly value: string }[]): readonly string[] =>
  choices.map(({ value }) => value)

const projectNames = (app: App): readonly string[] =>
  app.index.choices().projects.map(({ value }) => value.split(/[/\\]/).at(-1) ?? value)

const warn = (reason: Phrase, typed: string, known: Iterable<string>): Promise<void> =>
  writeWarning(joinPhrases(reason, didYouMean(nearestName(typed, known))))

const didYouMean = (nearest: string | undefined): Phrase =>
  nearest === undefined ? phrase('', '') : phrase(` Did you mean ${nearest}?`, `${nearest} のことですか？`)

const joinPhrases = (...parts: readonly Phrase[]): Phrase =>
  phrase(parts.map(({ en }) => en).join(''), parts.map(({ ja }) => ja).join(''))

const writeWarning = (text: Phrase): Promise<void> => writeErr(`fumi: ${localize(text)}\n`)
