/** All settings and the types of their values. */
import { posix, win32 } from 'node:path'
import { isJsonArray, type JsonValue } from '../lib/json/lossless.ts'
import type { AgentId } from '../model/ids.ts'
import { type Phrase, phrase } from '../model/phrase.ts'

export type SettingValue = string | number | boolean | null | readonly string[]

export interface SettingContext {
  readonly platform: NodeJS.Platform
  readonly home: string
  readonly cwd: string
}

type ParsedSetting<T> =
  | { readonly ok: true; readonly value: T }
  /** `at` is empty, or the number of an element in brackets. */
  | { readonly ok: false; readonly at: string; readonly reason: Phrase }

interface SettingType<T extends SettingValue> {
  readonly isList: boolean
  /** The value is never printed. */
  readonly isSecret?: boolean
  read(value: JsonValue, context: SettingContext): ParsedSetting<T>
  /** Parses one word into JSON. Returns invalid words unchanged, for `read` to reject. */
  fromText(word: string, context: SettingContext): JsonValue
}

const valid = <T>(value: T): ParsedSetting<T> => ({ ok: true, value })
const invalid = (reason: Phrase, at = ''): ParsedSetting<never> => ({ ok: false, at, reason })

const choiceSetting = <const T extends string>(...choices: readonly T[]): SettingType<T> => ({
  isList: false,
  read(value) {
    const found = choices.find((one) => one === value)
    const all = choices.map((one) => JSON.stringify(one))
    return found === undefined
      ? invalid(phrase(`must be one of ${all.join(', ')}`, `には ${all.join('、')} のどれかを指定してください`))
      : valid(found)
  },
  fromText: (word) => word,
})

const BOOLEAN_WORDS: { readonly [word: string]: boolean } = {
  true: true,
  on: true,
  yes: true,
  false: false,
  off: false,
  no: false,
}

const booleanSetting: SettingType<boolean> = {
  isList: false,
  read: (value) =>
    typeof value === 'boolean'
      ? valid(value)
      : invalid(phrase('must be true or false', 'には true か false を指定してください')),
  fromText: (word) => BOOLEAN_WORDS[word.toLowerCase()] ?? word,
}

const textSetting: SettingType<string | null> = {
  isList: false,
  read: (value) =>
    value === null || typeof value === 'string'
      ? valid(value)
      : invalid(phrase('must be a text', 'には文字列を指定してください')),
  fromText: (text) => text,
}

/** `$NAME`, the name of a variable, is not secret. */
const secretSetting: SettingType<string | null> = { ...textSetting, isSecret: true }

const positiveIntegerSetting: SettingType<number | null> = {
  isList: false,
  read: (value) =>
    value === null || (typeof value === 'number' && Number.isSafeInteger(value) && value > 0)
      ? valid(value)
      : invalid(phrase('must be a whole number of 1 or more', 'には 1 以上の整数を指定してください')),
  fromText: (text) => (/^\d+$/.test(text) ? Number(text) : text),
}

const positiveNumberSetting: SettingType<number | null> = {
  isList: false,
  read: (value) =>
    value === null || (typeof value === 'number' && Number.isFinite(value) && value > 0)
      ? valid(value)
      : invalid(phrase('must be a number above 0', 'には 0 より大きい数を指定してください')),
  fromText: (text) => (/^\d+(?:\.\d+)?$/.test(text) ? Number(text) : text),
}

const SIZE_PATTERN = /^(\d+(?:\.\d+)?)\s*(MB|GB|TB)$/i
const BYTES_PER_UNIT: { readonly [unit: string]: number } = { mb: 1e6, gb: 1e9, tb: 1e12 }

const NO_LIMIT = 'none'

const sizeSetting: SettingType<string> = {
  isList: false,
  read: (value) =>
    typeof value === 'string' && (value === NO_LIMIT || bytesOfSize(value) !== undefined)
      ? valid(value)
      : invalid(
          phrase(
            'must be a size such as 500MB or 20GB, or none',
            'には 500MB や 20GB のような大きさか none を指定してください',
          ),
        ),
  fromText: (text) => text,
}

/** The value of a size setting in bytes. Undefined without a limit. */
export function bytesOfSize(text: string): number | undefined {
  const [, amount = '', unit = ''] = SIZE_PATTERN.exec(text.trim()) ?? []
  const bytes = BYTES_PER_UNIT[unit.toLowerCase()]
  return bytes === undefined ? undefined : Number(amount) * bytes
}

const pathSetting: SettingType<string | null> = {
  isList: false,
  read: (value, context) => (value === null ? valid(null) : readPath(value, context)),
  fromText: pathFromText,
}

const textListSetting: SettingType<readonly string[]> = {
  isList: true,
  read: (value) =>
    isJsonArray(value) && value.every((one) => typeof one === 'string')
      ? valid(value as readonly string[])
      : invalid(
          phrase(
            'must be a list of texts: ["one", "another"]',
            'には ["one", "another"] のように一覧を指定してください',
          ),
        ),
  fromText: (text) => text,
}

const pathListSetting: SettingType<readonly string[]> = {
  isList: true,
  read(value, context) {
    if (!isJsonArray(value))
      return invalid(
        phrase(
          'must be a list of paths: ["/one", "/another"]',
          'には ["/one", "/another"] のようにパスの一覧を指定してください',
        ),
      )
    const found: string[] = []
    for (const [at, one] of value.entries()) {
      const path = readPath(one, context)
      if (!path.ok) return invalid(path.reason, `[${at}]`)
      found.push(path.value)
    }
    return valid(found)
  },
  fromText: pathFromText,
}

/** Parses a list whose values are separated like those in the platform's PATH, or by commas if they are no paths. */
export const settingFromText = (kind: SettingType<SettingValue>, text: string, context: SettingContext): JsonValue =>
  kind.isList
    ? text
        .split(kind === textListSetting ? ',' : pathRules(context).delimiter)
        .filter((word) => word !== '')
        .map((word) => kind.fromText(word, context))
    : kind.fromText(text, context)

/** A file has no current directory, so its paths must be absolute. */
function readPath(value: JsonValue, context: SettingContext): ParsedSetting<string> {
  const { isAbsolute, join, resolve } = pathRules(context)
  if (typeof value !== 'string' || value === '') return invalid(phrase('must be a path', 'にはパスを指定してください'))
  if (value === '~' || /^~[/\\]/.test(value)) return valid(resolve(join(context.home, value.slice(1))))
  return isAbsolute(value)
    ? valid(resolve(value))
    : invalid(phrase('must be an absolute path, or start with ~/', 'にはルートか ~/ から始まるパスを指定してください'))
}

function pathFromText(word: string, context: SettingContext): JsonValue {
  if (word === '' || word === '~' || /^~[/\\]/.test(word)) return word
  return pathRules(context).resolve(context.cwd, word)
}

const pathRules = ({ platform }: SettingContext): typeof posix => (platform === 'win32' ? win32 : posix)

export interface Setting<T extends SettingValue = SettingValue> {
  readonly kind: SettingType<T>
  readonly standard: T
  readonly what: Phrase
}

const defineSetting = <T extends SettingValue>(kind: SettingType<T>, standard: T, what: Phrase): Setting<T> => ({
  kind,
  standard,
  what,
})

/** `*` is the id of an agent or the name of a profile. */
const SETTINGS = {
  keep: defineSetting(
    choiceSetting('volatile', 'all', 'none'),
    'volatile',
    phrase(
      'what to back up automatically: volatile (what programs overwrite or delete), all, none',
      '自動でバックアップする範囲。volatile（プログラムが上書き・削除するもの）、all、none',
    ),
  ),
  'backup.projects': defineSetting(
    pathListSetting,
    [],
    phrase('directories whose conversations are always backed up', '会話を常にバックアップするディレクトリー'),
  ),
  'backup.skip': defineSetting(
    pathListSetting,
    [],
    phrase('directories whose conversations are never backed up', '会話をバックアップしないディレクトリー'),
  ),
  'backup.limit': defineSetting(
    sizeSetting,
    '50GB',
    phrase(
      'no files are added to the backup beyond this size; nothing is deleted',
      'バックアップがこの大きさになると、ファイルを追加しない。削除はしない',
    ),
  ),
  language: defineSetting(
    choiceSetting('auto', 'en', 'ja'),
    'auto',
    phrase('language of fumi; auto: language of the terminal', 'fumi の言語。auto ならターミナルに合わせる'),
  ),
  prices: defineSetting(
    pathSetting,
    null,
    phrase('JSON file of prices; they override the built-in ones', '価格の JSON ファイル。内蔵の価格より優先'),
  ),
  'prices.plan': defineSetting(
    choiceSetting('api', 'subscription'),
    'api',
    phrase(
      'how you pay: api (show the cost at list prices), subscription (hide cost)',
      '支払い方。api（定価での費用を表示）、subscription（費用を表示しない）',
    ),
  ),
  'agents.*.enabled': defineSetting(
    booleanSetting,
    true,
    phrase('whether to read its conversations', '会話を読むかどうか'),
  ),
  'agents.*.roots': defineSetting(
    pathListSetting,
    [],
    phrase(
      'more files and folders to search for its conversations',
      '会話のある場所として追加するファイルとフォルダー',
    ),
  ),
  'agents.*.skip': defineSetting(
    pathListSetting,
    [],
    phrase('files and folders to ignore, with everything below them', '読まないファイルとフォルダー（その下もすべて）'),
  ),
  'agents.*.keep': defineSetting(
    choiceSetting('auto', 'all', 'none'),
    'auto',
    phrase(
      'what to back up of it: auto (as the setting keep says), all, none',
      'バックアップする範囲。auto（設定 keep に従う）、all、none',
    ),
  ),
  'memory.skip': defineSetting(
    pathListSetting,
    [],
    phrase('directories whose conversations agents never recall', 'エージェントに思い出させない会話のディレクトリー'),
  ),
  'memory.skipSessions': defineSetting(
    textListSetting,
    [],
    phrase('sessions that agents never recall, by id', 'エージェントに思い出させない会話の ID'),
  ),
  profile: defineSetting(textSetting, null, phrase('default profile of fumi chat', 'fumi chat の既定のプロファイル')),
  'chat.compact': defineSetting(
    choiceSetting('auto', 'ask'),
    'auto',
    phrase(
      'when the context window is full: auto (summarize), ask (send less and suggest it)',
      'ウィンドウがいっぱいのとき。auto（自動で要約）、ask（送る量を減らして提案）',
    ),
  ),
  'chat.sandbox': defineSetting(
    choiceSetting('auto', 'on', 'off'),
    'auto',
    phrase(
      'run chat commands in a sandbox without network: auto (if available), on (else refuse), off',
      'チャットのコマンドを、ネットワークのないサンドボックスで実行。auto（使えるとき）、on（使えなければ実行しない）、off',
    ),
  ),
  'chat.maxRequests': defineSetting(
    positiveIntegerSetting,
    50,
    phrase('stop a turn after this many requests to the model', 'モデルへの要求がこの件数になるとターンを停止'),
  ),
  'chat.maxTokens': defineSetting(
    positiveIntegerSetting,
    null,
    phrase('stop a turn after this many tokens, sent and received', '送受信したトークンがこの数になるとターンを停止'),
  ),
  'chat.memory': defineSetting(
    booleanSetting,
    true,
    phrase(
      'let the model of an interactive chat search earlier conversations, read-only, once there is an index',
      '対話中のモデルが過去の会話を検索できるようにする（読み取り専用。索引がある場合）',
    ),
  ),
  'chat.maxSessionTokens': defineSetting(
    positiveIntegerSetting,
    null,
    phrase('stop when a chat has used this many tokens', 'チャットで使ったトークンがこの数になると停止'),
  ),
  'chat.maxCost': defineSetting(
    positiveNumberSetting,
    null,
    phrase('stop when a chat has cost this many US dollars', 'チャットの費用がこの米ドル額になると停止'),
  ),
  'chat.reasoning': defineSetting(
    choiceSetting('show', 'fold', 'hide'),
    'fold',
    phrase(
      'reasoning of the model in the terminal: show, fold (one line), hide; /reasoning prints it',
      'ターミナルでのモデルの思考。show（表示）、fold（1 行）、hide（非表示）。/reasoning で読める',
    ),
  ),
  'profiles.*.server': defineSetting(
    choiceSetting('openai', 'anthropic', 'ollama', 'llamacpp', 'lmstudio', 'vllm', 'any'),
    'any',
    phrase('kind of server; any: detected from its URL', 'サーバーの種類。any なら URL から判断'),
  ),
  'profiles.*.api': defineSetting(
    choiceSetting('auto', 'chat', 'responses', 'anthropic'),
    'auto',
    phrase(
      'API of the server: chat (completions), responses (OpenAI), anthropic (Messages); auto: by its kind',
      'サーバーの API。chat（Chat Completions）、responses（OpenAI）、anthropic（Messages）。auto なら種類から判断',
    ),
  ),
  'profiles.*.url': defineSetting(textSetting, null, phrase('URL, including /v1', 'URL。/v1 まで含める')),
  'profiles.*.model': defineSetting(textSetting, null, phrase('model to use', '使うモデル')),
  'profiles.*.key': defineSetting(
    secretSetting,
    null,
    phrase('API key, or $NAME to read it from a variable', 'API キー、または API キーの入った変数 $NAME'),
  ),
  'profiles.*.window': defineSetting(
    positiveIntegerSetting,
    null,
    phrase('context window of the model, in tokens', 'モデルのコンテキストウィンドウ（トークン数）'),
  ),
  'profiles.*.fallback': defineSetting(
    textSetting,
    null,
    phrase(
      'models that answer when the model cannot; comma-separated',
      'モデルが応答できないときに代わるモデル（コンマ区切り）',
    ),
  ),
}

/**
 * In the file, a setting that other settings continue, such as `prices` and `prices.plan`, stands under this name in their
 * object: `{"prices": {"file": …, "plan": …}}`.
 */
export const OWN_VALUE = 'file'

export type SettingName = keyof typeof SETTINGS
export type SettingValueOf<Name extends SettingName> = (typeof SETTINGS)[Name] extends Setting<infer T> ? T : never

/** All settings for these agents and profiles, by key. */
export function settingsFor(agents: readonly AgentId[], profiles: readonly string[]): ReadonlyMap<string, Setting> {
  const found = new Map<string, Setting>()
  const all = Object.entries(SETTINGS) as [SettingName, Setting][]
  for (const [name, one] of all) if (!name.includes('*')) found.set(name, one)
  for (const [group, names] of [
    ['agents.', agents],
    ['profiles.', profiles],
  ] as const)
    for (const each of names)
      for (const [name, one] of all) if (name.startsWith(`${group}*`)) found.set(settingKey(name, each), one)
  return found
}

/** @param each an agent or a profile */
export const settingKey = (name: SettingName, each: string): string => name.replace('*', each)

/** The profile that a key belongs to, whether it exists or not. */
export const profileOfKey = (key: string): string | undefined => /^profiles\.([\w-]+)(?:\.|$)/.exec(key)?.[1]

/** `agents.amazon-q.roots` is FUMI_AGENTS_AMAZON_Q_ROOTS. */
export const variableOfKey = (key: string): string => `FUMI_${key.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}`
