/** The context manager of v1.12 and before, brought into today's shape. Its own fields stay beside the new ones. */

import {
  isJsonArray,
  isJsonObject,
  JsonMap,
  type JsonObject,
  type JsonValue,
  jsonEntries,
} from '../../lib/json/lossless.ts'
import { addRepair, type ReadContext } from './reading.ts'

const OLD_TRIGGERS = new Map<unknown, string>([
  ['conversation_start', 'agentSpawn'],
  ['per_prompt', 'userPromptSubmit'],
])

export function upgradeContextManager(value: unknown, context: ReadContext): unknown {
  if (!isJsonObject(value)) return value
  const old = new Map(jsonEntries(value))
  if (old.has('paths') || !(old.has('global_config') || old.has('profile_config'))) return value
  addRepair(context, 'old_context_manager', 'the context manager has the shape of v1.12 and before')
  const configs = [old.get('global_config'), old.get('profile_config')].filter(isJsonObject)
  const paths = configs.flatMap((config) => listOf(fieldIn(config, 'paths')))
  const added: readonly [string, JsonValue][] = [
    ['max_context_files_size', old.get('max_context_files_size') ?? 150_000],
    ['current_profile', old.get('current_profile') ?? 'default'],
    ['paths', paths],
    ['hooks', upgradeHooks(configs)],
  ]
  return Object.fromEntries([...added, ...jsonEntries(value).filter(([key]) => !added.some(([name]) => name === key))])
}

/** Old hooks were keyed by name and said their trigger themselves; disabled ones did not run. */
function upgradeHooks(configs: readonly JsonObject[]): JsonValue {
  const byTrigger = new JsonMap<JsonValue[]>()
  for (const config of configs) {
    const hooks = fieldIn(config, 'hooks')
    if (!isJsonObject(hooks)) continue
    for (const [, hook] of jsonEntries(hooks)) {
      if (!isJsonObject(hook) || fieldIn(hook, 'disabled') === true) continue
      const trigger = OLD_TRIGGERS.get(fieldIn(hook, 'trigger'))
      const command = fieldIn(hook, 'command')
      if (trigger === undefined || typeof command !== 'string') continue
      const limits = jsonEntries(hook).filter(([key]) => HOOK_LIMITS.includes(key))
      byTrigger.set(trigger, [...(byTrigger.get(trigger) ?? []), Object.fromEntries([['command', command], ...limits])])
    }
  }
  return Object.fromEntries(byTrigger)
}

const HOOK_LIMITS = ['timeout_ms', 'max_output_size', 'cache_ttl_seconds']

function fieldIn(object: JsonObject, key: string): JsonValue | undefined {
  return object instanceof Map ? object.get(key) : (object as { readonly [key: string]: JsonValue })[key]
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return isJsonArray(value) ? value : []
}
