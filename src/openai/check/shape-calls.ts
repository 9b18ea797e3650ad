/** Makes an assistant's calls acceptable to a server. */

import {
  type Fields,
  fieldsOf,
  isObject,
  listOf,
  nonEmptyStringOf,
  parseStructure,
  toJsonText,
} from '../../lib/unknown-values.ts'
import { phrase } from '../../model/phrase.ts'
import type { ToolCall } from '../message.ts'
import type { Profile } from '../profile.ts'
import { legalToolName, makeCallId, pickKnownFields, toLegalCallId } from './legal-names.ts'
import { OMITTED_PHRASE, type ReportProblem } from './problem.ts'

/** @param seed unique for each message; used to create ids */
export function shapeCalls(given: unknown, profile: Profile, seed: string, report: ReportProblem): readonly ToolCall[] {
  const list = isObject(given) ? [given] : listOf(given)
  if (isObject(given) || (given !== undefined && !Array.isArray(given)))
    report(
      '.tool_calls',
      'call_form',
      phrase('The tool calls are not a list.', 'ツールの呼び出しが一覧ではありません。'),
      isObject(given) ? phrase('wraps it in a list', '一覧にする') : phrase('removes them', '省く'),
    )
  return list.flatMap((call, at) => {
    const reportCall: ReportProblem = (path, ...rest) => report(`.tool_calls[${at}]${path}`, ...rest)
    const fields = fieldsOf(call)
    if (fields) return shapeCall(fields, profile, `${seed}\n${at}`, reportCall)
    reportCall(
      '',
      'call_form',
      phrase('A tool call is not an object.', 'ツールの呼び出しがオブジェクトではありません。'),
      OMITTED_PHRASE,
    )
    return []
  })
}

function shapeCall(call: Fields, profile: Profile, seed: string, report: ReportProblem): ToolCall {
  const isCustom = call['type'] === 'custom' || (call['type'] !== 'function' && isObject(call['custom']))
  const kind = isCustom ? 'custom' : 'function'
  const text = isCustom ? 'input' : 'arguments'
  const reportInner: ReportProblem = (path, ...rest) => report(`.${kind}${path}`, ...rest)
  const flatKeys = isObject(call[kind]) ? [] : ['name', text]
  if (call['type'] !== kind || flatKeys.length > 0)
    report(
      '',
      'call_form',
      phrase(
        'A tool call has no type, or its fields are next to it.',
        'ツールの呼び出しに種類がないか、フィールドが外側にあります。',
      ),
      phrase(`converts it to a ${kind} call`, `${kind} の呼び出しにする`),
    )
  const outer = pickKnownFields(call, ['id', 'type', kind, ...flatKeys], profile, report)
  const inner = pickKnownFields(
    fieldsOf(call[kind]) ?? pickFields(call, flatKeys),
    ['name', text],
    profile,
    reportInner,
  )
  const rest = omitFields(outer, [kind, ...flatKeys])
  const id = shapeId(call['id'], profile, seed, report)
  const name = shapeName(nonEmptyStringOf(inner['name']) ?? '', profile, reportInner)
  if (!isCustom) {
    const functionFields = { ...inner, name, arguments: shapeArguments(inner[text], profile, reportInner) }
    return { ...rest, id, type: 'function', function: functionFields }
  }
  const input = shapeInput(inner[text], reportInner)
  if (profile.customCalls) return { ...rest, id, type: 'custom', custom: { ...inner, name, input } }
  const what = phrase(
    `${profile.label} does not support custom tools.`,
    `${profile.label} はカスタムツールを扱えません。`,
  )
  report(
    '',
    'call_custom',
    what,
    phrase('converts it to a function call with the argument `input`', '引数 `input` を持つ関数の呼び出しにする'),
  )
  const functionFields = { ...omitFields(inner, [text]), name, arguments: toJsonText({ input }) }
  return { ...rest, id, type: 'function', function: functionFields }
}

const pickFields = (fields: Fields, keys: readonly string[]): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([key]) => keys.includes(key)))

const omitFields = (fields: Fields, keys: readonly string[]): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([key]) => !keys.includes(key)))

function shapeInput(given: unknown, report: ReportProblem): string {
  if (typeof given === 'string') return given
  report(
    '.input',
    'arguments_form',
    phrase('The input of a tool is not a string.', 'ツールの入力が文字列ではありません。'),
    phrase('writes it as JSON text', 'JSON の文字列として書く'),
  )
  return given === undefined || given === null ? '' : toJsonText(given)
}

function shapeName(name: string, profile: Profile, report: ReportProblem): string {
  const legal = legalToolName(name, profile)
  if (legal !== name)
    report(
      '.name',
      'tool_name_illegal',
      phrase(
        `${profile.label} rejects the name of this tool.`,
        `${profile.label} はこのツールの名前を受け付けません。`,
      ),
      phrase(`renames it to ${legal}`, `${legal} に変える`),
    )
  return legal
}

function shapeArguments(given: unknown, profile: Profile, report: ReportProblem): string {
  if (typeof given !== 'string') {
    const repair = isObject(given)
      ? phrase('writes them as JSON text', 'JSON の文字列として書く')
      : phrase('writes `{}`', '`{}` を書く')
    report(
      '.arguments',
      'arguments_form',
      phrase('The arguments are not a string.', '引数が文字列ではありません。'),
      repair,
    )
    return isObject(given) ? toJsonText(given) : '{}'
  }
  if (profile.arguments === 'text' || isObject(parseStructure(given))) return given
  const isEmpty = given.trim() === ''
  report(
    '.arguments',
    'arguments_form',
    phrase(
      `${profile.label} requires arguments to be a JSON object.`,
      `${profile.label} は JSON オブジェクトの引数だけを受け付けます。`,
    ),
    isEmpty
      ? phrase('writes `{}`', '`{}` を書く')
      : phrase('moves them into the argument `input`', '引数 `input` にする'),
  )
  return isEmpty ? '{}' : toJsonText({ input: given })
}

function shapeId(given: unknown, profile: Profile, seed: string, report: ReportProblem): string {
  const id = nonEmptyStringOf(given)
  if (id === undefined) {
    report(
      '.id',
      'id_missing',
      phrase('A tool call has no id.', 'ツールの呼び出しに ID がありません。'),
      phrase('generates one', '作る'),
    )
    return makeCallId(seed, profile)
  }
  return shapeCallId(id, '.id', profile, report)
}

/** For a call or its result: both change in the same way. */
export function shapeCallId(id: string, path: string, profile: Profile, report: ReportProblem): string {
  const legal = toLegalCallId(id, profile)
  if (legal !== id)
    report(
      path,
      'id_illegal',
      phrase(
        `${profile.label} rejects an id of this length or form.`,
        `${profile.label} はこの長さや形の ID を受け付けません。`,
      ),
      phrase(`renames it to ${legal}`, `${legal} に変える`),
    )
  return legal
}
