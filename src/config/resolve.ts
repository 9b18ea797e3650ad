/** Puts the settings together: an option goes before the environment, that before the file, that before the default. */
import { isJsonObject, type JsonValue, jsonEntries } from '../lib/json/lossless.ts'
import type { AgentId } from '../model/ids.ts'
import { type Phrase, phrase } from '../model/phrase.ts'
import type { JsonFile } from './json-file.ts'
import { jsonFromText, type Surroundings, type Value } from './kinds.ts'
import type { ConfigProblem } from './problem.ts'
import { keyOf, profileIn, type Setting, type SettingName, settingsFor, type ValueOf, variableOf } from './table.ts'

export type Origin = 'default' | 'file' | 'environment' | 'flag'

export interface Resolved {
  readonly key: string
  readonly value: Value
  readonly from: Origin
  readonly standard: Value
  readonly variable: string
  readonly what: Phrase
}

export interface Given extends Surroundings {
  readonly file: JsonFile
  readonly variables: Readonly<Record<string, string | undefined>>
  /** By key, as they were typed. */
  readonly flags: ReadonlyMap<string, string>
  /** Ids of all agents that are known. */
  readonly agents: readonly AgentId[]
}

export interface AgentConfig {
  readonly enabled: boolean
  readonly roots: readonly string[]
  readonly skip: readonly string[]
}

export interface ProfileConfig {
  readonly server: ValueOf<'profiles.*.server'>
  readonly url: string | null
  readonly model: string | null
  readonly key: string | null
  readonly window: number | null
}

export interface Configuration {
  /** Path of the file, whether it exists or not. */
  readonly file: string
  readonly keep: ValueOf<'keep'>
  readonly language: ValueOf<'language'>
  readonly prices: ValueOf<'prices'>
  readonly agents: ReadonlyMap<AgentId, AgentConfig>
  readonly profile: ValueOf<'profile'>
  readonly compact: ValueOf<'chat.compact'>
  readonly sandbox: ValueOf<'chat.sandbox'>
  readonly maxRequests: ValueOf<'chat.maxRequests'>
  readonly maxTokens: ValueOf<'chat.maxTokens'>
  /** Servers that the user gave a name. */
  readonly profiles: ReadonlyMap<string, ProfileConfig>
  /** Every key that is given anywhere, also where another one goes before it: the key itself, or `$NAME` for a variable. */
  readonly keys: readonly string[]
  /** The same and where each comes from, in the order of the table. */
  readonly settings: readonly Resolved[]
  readonly problems: readonly ConfigProblem[]
}

type Layer = Map<string, Value>

export function resolveConfig(given: Given): Configuration {
  const profiles = profilesIn(given)
  const settings = settingsFor(given.agents, profiles)
  const problems: ConfigProblem[] = given.file.problem ? [given.file.problem] : []
  const layers: readonly (readonly [Origin, Layer])[] = [
    ['flag', fromFlags(settings, given, problems)],
    ['environment', fromEnvironment(settings, given, problems)],
    ['file', fromFile(settings, given, problems)],
  ]
  const values = new Map<string, Value>()
  const resolved = [...settings].map(([key, { kind, standard, what }]): Resolved => {
    const layer = layers.find(([, held]) => held.has(key))
    const value = layer?.[1].get(key) ?? standard
    values.set(key, value)
    const shown = kind.isSecret ? hidden(value) : value
    return { key, value: shown, from: layer?.[0] ?? 'default', standard, variable: variableOf(key), what }
  })
  // Every value was read by the kind of its setting.
  const held = <Name extends SettingName>(name: Name, each = ''): ValueOf<Name> =>
    values.get(keyOf(name, each)) as ValueOf<Name>
  return {
    file: given.file.path,
    keep: held('keep'),
    language: held('language'),
    prices: held('prices'),
    agents: new Map(
      given.agents.map((id) => [
        id,
        {
          enabled: held('agents.*.enabled', id),
          roots: held('agents.*.roots', id),
          skip: held('agents.*.skip', id),
        },
      ]),
    ),
    profile: held('profile'),
    compact: held('chat.compact'),
    sandbox: held('chat.sandbox'),
    maxRequests: held('chat.maxRequests'),
    maxTokens: held('chat.maxTokens'),
    profiles: new Map(
      profiles.map((name) => [
        name,
        {
          server: held('profiles.*.server', name),
          url: held('profiles.*.url', name),
          model: held('profiles.*.model', name),
          key: held('profiles.*.key', name),
          window: held('profiles.*.window', name),
        },
      ]),
    ),
    keys: layers.flatMap(([, held]) =>
      [...held].flatMap(([key, value]) =>
        settings.get(key)?.kind.isSecret && typeof value === 'string' && value !== '' ? [value] : [],
      ),
    ),
    settings: resolved,
    problems,
  }
}

const HIDDEN = '(set, not shown)'

const hidden = (value: Value): Value => (typeof value !== 'string' || /^(?:\$\w+)?$/.test(value) ? value : HIDDEN)

/** They have the names that file and options give them. */
function profilesIn({ file, flags }: Given): readonly string[] {
  const written = new Map(jsonEntries(file.content)).get('profiles')
  const named = isJsonObject(written) ? jsonEntries(written).map(([name]) => `profiles.${name}`) : []
  return [...new Set([...named, ...flags.keys()].flatMap((key) => profileIn(key) ?? []))]
}

type Settings = ReadonlyMap<string, Setting>

function fromFlags(settings: Settings, given: Given, problems: ConfigProblem[]): Layer {
  const layer: Layer = new Map()
  for (const [key, text] of given.flags) {
    const setting = settings.get(key)
    if (setting) take(layer, key, setting, jsonFromText(setting.kind, text, given), '--set', given, problems)
    else problems.push({ where: '--set', key, reason: unknown([...settings.keys()]) })
  }
  return layer
}

function fromEnvironment(settings: Settings, given: Given, problems: ConfigProblem[]): Layer {
  const layer: Layer = new Map()
  for (const [key, setting] of settings) {
    const text = given.variables[variableOf(key)]
    if (text === undefined || text === '') continue
    take(layer, key, setting, jsonFromText(setting.kind, text, given), variableOf(key), given, problems)
  }
  return layer
}

function fromFile(settings: Settings, given: Given, problems: ConfigProblem[]): Layer {
  const layer: Layer = new Map()
  const { path: where, content, duplicates } = given.file
  const visit = (value: JsonValue, key: string): void => {
    const setting = settings.get(key)
    if (setting) {
      take(layer, key, setting, value, where, given, problems)
      return
    }
    const known = namesBelow(settings, key)
    if (key === 'profiles' && isJsonObject(value) && jsonEntries(value).length === 0) return
    if (known.length === 0) {
      problems.push({ where, key, reason: unknown(namesBelow(settings, key.replace(/\.?[^.]*$/, ''))) })
      return
    }
    if (!isJsonObject(value)) {
      problems.push({ where, key, reason: wantsObject(known) })
      return
    }
    const twice = duplicates.get(value)
    if (twice !== undefined) problems.push({ where, key: below(key, twice), reason: TWICE })
    for (const [name, item] of jsonEntries(value)) {
      if (name.includes('.')) problems.push({ where, key: below(key, name), reason: DOTTED })
      else visit(item, below(key, name))
    }
  }
  visit(content, '')
  return layer
}

const below = (key: string, name: string): string => (key === '' ? name : `${key}.${name}`)

/** What may stand in the object at a key. */
function namesBelow(settings: Settings, key: string): readonly string[] {
  const start = key === '' ? '' : `${key}.`
  const names = [...settings.keys()].filter((one) => one.startsWith(start)).map((one) => one.slice(start.length))
  return [...new Set(names.map((one) => one.replace(/\..*$/, '')))]
}

const unknown = (known: readonly string[]): Phrase =>
  phrase(`is no setting; there are ${known.join(', ')}`, `という設定はありません。使えるのは ${known.join('、')} です`)

const wantsObject = (known: readonly string[]): Phrase =>
  phrase(`wants an object with ${known.join(', ')}`, `には ${known.join('、')} を持つオブジェクトを指定してください`)

const TWICE = phrase('is given twice; the last counts', 'が 2 回指定されています。最後の値を使います')

const DOTTED = phrase(
  'has a dot: write an object in an object',
  'にドットがあります。オブジェクトの中のオブジェクトとして書いてください',
)

function take(
  layer: Layer,
  key: string,
  { kind }: Setting,
  value: JsonValue,
  where: string,
  around: Surroundings,
  problems: ConfigProblem[],
): void {
  const parsed = kind.read(value, around)
  if (parsed.ok) layer.set(key, parsed.value)
  else problems.push({ where, key: `${key}${parsed.at}`, reason: parsed.reason })
}
