/** Resolves each setting from option, environment, file or default, in this order. */
import { isJsonObject, type JsonValue, jsonEntries } from '../lib/json/lossless.ts'
import type { AgentId } from '../model/ids.ts'
import { type Phrase, phrase } from '../model/phrase.ts'
import type { ConfigProblem, JsonConfigFile } from './json-file.ts'
import {
  bytesOfSize,
  OWN_VALUE,
  profileOfKey,
  type Setting,
  type SettingContext,
  type SettingName,
  type SettingValue,
  type SettingValueOf,
  settingFromText,
  settingKey,
  settingsFor,
  variableOfKey,
} from './settings.ts'

export type SettingOrigin = 'default' | 'file' | 'environment' | 'flag'

export interface ResolvedSetting {
  readonly key: string
  readonly value: SettingValue
  readonly from: SettingOrigin
  readonly standard: SettingValue
  readonly variable: string
  readonly what: Phrase
}

export interface ConfigInput extends SettingContext {
  readonly file: JsonConfigFile
  readonly variables: Readonly<Record<string, string | undefined>>
  /** By key, as typed. */
  readonly flags: ReadonlyMap<string, string>
  readonly agents: readonly AgentId[]
}

export interface AgentConfig {
  readonly enabled: boolean
  readonly roots: readonly string[]
  readonly skip: readonly string[]
  readonly keep: SettingValueOf<'agents.*.keep'>
}

export interface ProfileConfig {
  readonly server: SettingValueOf<'profiles.*.server'>
  readonly api: SettingValueOf<'profiles.*.api'>
  readonly url: string | null
  readonly model: string | null
  readonly key: string | null
  readonly window: number | null
  readonly fallback: string | null
}

export interface Configuration {
  /** Path of the file, which may not exist. */
  readonly file: string
  readonly keep: SettingValueOf<'keep'>
  readonly backup: {
    readonly projects: readonly string[]
    readonly skip: readonly string[]
    /** In bytes. */
    readonly limit: number | undefined
  }
  /** What agents never recall. */
  readonly memory: {
    readonly skip: readonly string[]
    readonly skipSessions: readonly string[]
  }
  readonly language: SettingValueOf<'language'>
  readonly prices: SettingValueOf<'prices'>
  readonly pricePlan: SettingValueOf<'prices.plan'>
  readonly agents: ReadonlyMap<AgentId, AgentConfig>
  readonly profile: SettingValueOf<'profile'>
  readonly compact: SettingValueOf<'chat.compact'>
  readonly sandbox: SettingValueOf<'chat.sandbox'>
  readonly maxRequests: SettingValueOf<'chat.maxRequests'>
  readonly maxTokens: SettingValueOf<'chat.maxTokens'>
  readonly chatMemory: SettingValueOf<'chat.memory'>
  readonly maxSessionTokens: SettingValueOf<'chat.maxSessionTokens'>
  readonly maxCost: SettingValueOf<'chat.maxCost'>
  readonly reasoning: SettingValueOf<'chat.reasoning'>
  /** Named servers. */
  readonly profiles: ReadonlyMap<string, ProfileConfig>
  /** Every API key from any origin, even an overridden one: the key itself, or `$NAME` for a variable. */
  readonly keys: readonly string[]
  /** Every setting with its origin, in table order. */
  readonly settings: readonly ResolvedSetting[]
  readonly problems: readonly ConfigProblem[]
}

type SettingLayer = Map<string, SettingValue>

export function resolveConfig(input: ConfigInput): Configuration {
  const profiles = profileNames(input)
  const settings = settingsFor(input.agents, profiles)
  const problems: ConfigProblem[] = input.file.problem ? [input.file.problem] : []
  const layers: readonly (readonly [SettingOrigin, SettingLayer])[] = [
    ['flag', readFlags(settings, input, problems)],
    ['environment', readEnvironment(settings, input, problems)],
    ['file', readFile(settings, input, problems)],
  ]
  const values = new Map<string, SettingValue>()
  const resolved = [...settings].map(([key, { kind, standard, what }]): ResolvedSetting => {
    const layer = layers.find(([, lookup]) => lookup.has(key))
    const value = layer?.[1].get(key) ?? standard
    values.set(key, value)
    const shown = kind.isSecret ? hideSecret(value) : value
    return { key, value: shown, from: layer?.[0] ?? 'default', standard, variable: variableOfKey(key), what }
  })
  // Safe, because each value was parsed by its setting's own type.
  const lookup = <Name extends SettingName>(name: Name, each = ''): SettingValueOf<Name> =>
    values.get(settingKey(name, each)) as SettingValueOf<Name>
  return {
    file: input.file.path,
    keep: lookup('keep'),
    backup: {
      projects: lookup('backup.projects'),
      skip: lookup('backup.skip'),
      limit: bytesOfSize(lookup('backup.limit')),
    },
    memory: { skip: lookup('memory.skip'), skipSessions: lookup('memory.skipSessions') },
    language: lookup('language'),
    prices: lookup('prices'),
    pricePlan: lookup('prices.plan'),
    agents: new Map(
      input.agents.map((id) => [
        id,
        {
          enabled: lookup('agents.*.enabled', id),
          roots: lookup('agents.*.roots', id),
          skip: lookup('agents.*.skip', id),
          keep: lookup('agents.*.keep', id),
        },
      ]),
    ),
    profile: lookup('profile'),
    compact: lookup('chat.compact'),
    sandbox: lookup('chat.sandbox'),
    maxRequests: lookup('chat.maxRequests'),
    maxTokens: lookup('chat.maxTokens'),
    chatMemory: lookup('chat.memory'),
    maxSessionTokens: lookup('chat.maxSessionTokens'),
    maxCost: lookup('chat.maxCost'),
    reasoning: lookup('chat.reasoning'),
    profiles: new Map(
      profiles.map((name) => [
        name,
        {
          server: lookup('profiles.*.server', name),
          api: lookup('profiles.*.api', name),
          url: lookup('profiles.*.url', name),
          model: lookup('profiles.*.model', name),
          key: lookup('profiles.*.key', name),
          window: lookup('profiles.*.window', name),
          fallback: lookup('profiles.*.fallback', name),
        },
      ]),
    ),
    keys: layers.flatMap(([, lookup]) =>
      [...lookup].flatMap(([key, value]) =>
        settings.get(key)?.kind.isSecret && typeof value === 'string' && value !== '' ? [value] : [],
      ),
    ),
    settings: resolved,
    problems,
  }
}

const HIDDEN_VALUE = '(set, not shown)'

const hideSecret = (value: SettingValue): SettingValue =>
  typeof value !== 'string' || /^(?:\$\w+)?$/.test(value) ? value : HIDDEN_VALUE

/** A profile exists once the file or an option names it. */
function profileNames({ file, flags }: ConfigInput): readonly string[] {
  const profilesValue = new Map(jsonEntries(file.content)).get('profiles')
  const named = isJsonObject(profilesValue) ? jsonEntries(profilesValue).map(([name]) => `profiles.${name}`) : []
  return [...new Set([...named, ...flags.keys()].flatMap((key) => profileOfKey(key) ?? []))]
}

type SettingsByKey = ReadonlyMap<string, Setting>

function readFlags(settings: SettingsByKey, input: ConfigInput, problems: ConfigProblem[]): SettingLayer {
  const layer: SettingLayer = new Map()
  for (const [key, text] of input.flags) {
    const setting = settings.get(key)
    if (setting) addSetting(layer, key, setting, settingFromText(setting.kind, text, input), '--set', input, problems)
    else problems.push({ where: '--set', key, reason: unknownSetting([...settings.keys()]) })
  }
  return layer
}

function readEnvironment(settings: SettingsByKey, input: ConfigInput, problems: ConfigProblem[]): SettingLayer {
  const layer: SettingLayer = new Map()
  for (const [key, setting] of settings) {
    const text = input.variables[variableOfKey(key)]
    if (text === undefined || text === '') continue
    addSetting(layer, key, setting, settingFromText(setting.kind, text, input), variableOfKey(key), input, problems)
  }
  return layer
}

function readFile(settings: SettingsByKey, input: ConfigInput, problems: ConfigProblem[]): SettingLayer {
  const layer: SettingLayer = new Map()
  const { path: where, content, duplicates } = input.file
  const visit = (value: JsonValue, key: string): void => {
    const setting = settings.get(key)
    const below = namesBelow(settings, key)
    if (setting && !(below.length > 0 && isJsonObject(value))) {
      addSetting(layer, key, setting, value, where, input, problems)
      return
    }
    const known = setting ? [OWN_VALUE, ...below] : below
    if (key === 'profiles' && isJsonObject(value) && jsonEntries(value).length === 0) return
    if (known.length === 0) {
      problems.push({ where, key, reason: unknownSetting(namesBelow(settings, key.replace(/\.?[^.]*$/, ''))) })
      return
    }
    if (!isJsonObject(value)) {
      problems.push({ where, key, reason: wantsObject(known) })
      return
    }
    const duplicate = duplicates.get(value)
    if (duplicate !== undefined) problems.push({ where, key: joinKey(key, duplicate), reason: GIVEN_TWICE })
    for (const [name, item] of jsonEntries(value)) {
      if (name.includes('.')) problems.push({ where, key: joinKey(key, name), reason: HAS_DOT })
      else if (setting && name === OWN_VALUE) addSetting(layer, key, setting, item, where, input, problems)
      else visit(item, joinKey(key, name))
    }
  }
  visit(content, '')
  return layer
}

const joinKey = (key: string, name: string): string => (key === '' ? name : `${key}.${name}`)

/** The names allowed in the object at a key. */
function namesBelow(settings: SettingsByKey, key: string): readonly string[] {
  const start = key === '' ? '' : `${key}.`
  const names = [...settings.keys()].filter((one) => one.startsWith(start)).map((one) => one.slice(start.length))
  return [...new Set(names.map((one) => one.replace(/\..*$/, '')))]
}

const unknownSetting = (known: readonly string[]): Phrase =>
  phrase(
    `is not a setting. Available: ${known.join(', ')}`,
    `という設定はありません。使えるのは ${known.join('、')} です`,
  )

const wantsObject = (known: readonly string[]): Phrase =>
  phrase(`must be an object with ${known.join(', ')}`, `には ${known.join('、')} を持つオブジェクトを指定してください`)

const GIVEN_TWICE = phrase('occurs twice; the last value is used', 'が 2 回指定されています。最後の値を使います')

const HAS_DOT = phrase(
  'contains a dot. Write nested objects instead',
  'にドットがあります。オブジェクトの中のオブジェクトとして書いてください',
)

function addSetting(
  layer: SettingLayer,
  key: string,
  { kind }: Setting,
  value: JsonValue,
  where: string,
  context: SettingContext,
  problems: ConfigProblem[],
): void {
  const parsed = kind.read(value, context)
  if (parsed.ok) layer.set(key, parsed.value)
  else problems.push({ where, key: `${key}${parsed.at}`, reason: parsed.reason })
}
