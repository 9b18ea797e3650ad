/** Every setting there is: what it may hold, what it is when nobody says anything, and what it does. */
import type { AgentId } from '../model/ids.ts'
import { type Phrase, phrase } from '../model/phrase.ts'
import {
  booleanSetting,
  choiceSetting,
  pathListSetting,
  pathSetting,
  positiveIntegerSetting,
  type SettingType,
  type SettingValue,
  secretSetting,
  textSetting,
} from './setting-types.ts'

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

/** `*` stands for the id of an agent, or for the name of a profile. */
export const SETTINGS = {
  keep: defineSetting(
    choiceSetting('volatile', 'all', 'none'),
    'volatile',
    phrase(
      'what is copied unasked: volatile (what its program overwrites), all, none',
      '自動で控えを取る範囲。volatile（プログラムが上書きするもの）、all、none',
    ),
  ),
  language: defineSetting(
    choiceSetting('auto', 'en', 'ja'),
    'auto',
    phrase('in which language fumi speaks; auto: that of the terminal', 'fumi の言語。auto ならターミナルに合わせる'),
  ),
  prices: defineSetting(
    pathSetting,
    null,
    phrase('a JSON file of prices, which go before the built-in ones', '価格の JSON ファイル。内蔵の価格より優先'),
  ),
  'agents.*.enabled': defineSetting(
    booleanSetting,
    true,
    phrase('whether its conversations are read', '会話を読むかどうか'),
  ),
  'agents.*.roots': defineSetting(
    pathListSetting,
    [],
    phrase('more files and folders in which its conversations lie', '会話のある場所として追加するファイルとフォルダー'),
  ),
  'agents.*.skip': defineSetting(
    pathListSetting,
    [],
    phrase(
      'files and folders that are left alone, with all below them',
      '読まないファイルとフォルダー（その下もすべて）',
    ),
  ),
  profile: defineSetting(
    textSetting,
    null,
    phrase(
      'the profile with which fumi chat talks when none is asked for',
      '指定がないときに fumi chat が使うプロファイル',
    ),
  ),
  'chat.compact': defineSetting(
    choiceSetting('auto', 'ask'),
    'auto',
    phrase(
      'when the window of a model is full: auto (sum up by itself), ask (send less, and propose it)',
      'ウィンドウがいっぱいのとき。auto（自動で要約）、ask（送る量を減らして提案）',
    ),
  ),
  'chat.sandbox': defineSetting(
    choiceSetting('auto', 'on', 'off'),
    'auto',
    phrase(
      'commands of a chat in a sandbox without network: auto (where one works), on (else refuse them), off',
      'チャットのコマンドを、ネットワークのないサンドボックスで実行。auto（使えるとき）、on（使えなければ実行しない）、off',
    ),
  ),
  'chat.maxRequests': defineSetting(
    positiveIntegerSetting,
    50,
    phrase(
      'requests to the model after which a turn stops and can be continued',
      'モデルへの要求がこの件数になるとターンを停止（続けられる）',
    ),
  ),
  'chat.maxTokens': defineSetting(
    positiveIntegerSetting,
    null,
    phrase(
      'tokens, sent and received, after which a turn stops and can be continued',
      '送受信したトークンがこの数になるとターンを停止（続けられる）',
    ),
  ),
  'profiles.*.server': defineSetting(
    choiceSetting('openai', 'ollama', 'llamacpp', 'lmstudio', 'vllm', 'any'),
    'any',
    phrase('what kind of server it is; any: told by its address', 'サーバーの種類。any ならアドレスから判断'),
  ),
  'profiles.*.url': defineSetting(textSetting, null, phrase('its address, up to and with /v1', 'アドレス。/v1 まで')),
  'profiles.*.model': defineSetting(textSetting, null, phrase('the model that answers', '応答するモデル')),
  'profiles.*.key': defineSetting(
    secretSetting,
    null,
    phrase('its key, or $NAME for a variable that holds it', 'キー、またはキーの入った変数 $NAME'),
  ),
  'profiles.*.window': defineSetting(
    positiveIntegerSetting,
    null,
    phrase('the window of its model, in tokens', 'モデルのウィンドウ（トークン数）'),
  ),
}

export type SettingName = keyof typeof SETTINGS
export type SettingValueOf<Name extends SettingName> = (typeof SETTINGS)[Name] extends Setting<infer T> ? T : never

/** The settings of an app with these agents and profiles, by their keys. */
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

/** The profile that a key is about, whether there is one of that name or not. */
export const profileOfKey = (key: string): string | undefined => /^profiles\.([\w-]+)(?:\.|$)/.exec(key)?.[1]

/** `agents.amazon-q.roots` is FUMI_AGENTS_AMAZON_Q_ROOTS. */
export const variableOfKey = (key: string): string => `FUMI_${key.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}`
