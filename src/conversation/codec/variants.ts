/** The codecs of serde's enums: an object with one key, or a bare name. */

import { isJsonObject, type JsonValue } from '../../lib/json/lossless.ts'
import type { Open } from '../message.ts'
import type { Codec } from './codec.ts'
import { addRepair, describeKind, hasDuplicateKeys, type ReadContext, UnreadableError } from './read-context.ts'

type Union<T> = T extends unknown ? keyof T : never
type Bodies<T> = { readonly [K in Union<T> & string]: Codec<T extends Readonly<Record<K, infer Body>> ? Body : never> }

/** One key, which names the variant. */
export function variants<T extends object>(name: string, bodies: Bodies<T>): Codec<T> {
  const byTag = new Map<string, Codec<unknown>>(Object.entries(bodies))
  return {
    read(value, context) {
      const tag = tagOf(name, value, context)
      const given = bodyOf(value, tag)
      const body = byTag.get(tag)
      if (!body) throw new UnreadableError(context, `unknown variant \`${tag}\` of ${name}`, tag)
      context.path.push(tag)
      const read = body.read(given, context)
      context.path.pop()
      return (read === given ? value : { [tag]: read }) as T
    },
    lower(value, context) {
      for (const [tag, given] of Object.entries(value)) {
        const body = byTag.get(tag)
        if (!body) continue
        const lowered = body.lower(given, context)
        return lowered === given ? (value as JsonValue) : { [tag]: lowered }
      }
      return value as JsonValue
    },
  }
}

function tagOf(name: string, value: unknown, context: ReadContext): string {
  if (!isJsonObject(value))
    throw new UnreadableError(context, `expected ${name} as an object with one key, found ${describeKind(value)}`)
  if (hasDuplicateKeys(value, context)) throw new UnreadableError(context, `${name} names its variant twice`)
  let only: string | undefined
  let count = value instanceof Map ? value.size : 0
  if (value instanceof Map) only = value.keys().next().value
  else
    for (const key in value) {
      only = key
      count++
    }
  if (only === undefined || count > 1) throw new UnreadableError(context, `${name} needs one key and has ${count}`)
  return only
}

function bodyOf(value: unknown, tag: string): unknown {
  return value instanceof Map ? value.get(tag) : (value as { readonly [key: string]: unknown })[tag]
}

/**
 * A bare name, or `{"Name":null}`. A tolerant reading lets unknown names through.
 * @param replacement what the original gets in place of a name it does not know; null where the name can be left out
 */
export function names<T extends string>(name: string, members: readonly T[], replacement: T | null): Codec<Open<T>> {
  const known = new Set<string>(members)
  return {
    read(value, context) {
      const tag = typeof value === 'string' ? value : unitTag(name, value, context)
      if (known.has(tag)) return tag
      if (context.strict) throw new UnreadableError(context, `unknown ${name} \`${tag}\``, tag)
      addRepair(context, 'unknown_member', `${name} has no member of that name in the original`)
      return tag
    },
    lower: (value, context) => (context.keep === 'known' && !known.has(value) ? replacement : value),
  }
}

function unitTag(name: string, value: unknown, context: ReadContext): string {
  const tag = tagOf(name, value, context)
  if (bodyOf(value, tag) !== null) throw new UnreadableError(context, `${name} takes no content`)
  return tag
}
