/** Makes message content acceptable to a server. A rejected part becomes a note in its place. */

import { type Fields, fieldsOf, nonEmptyStringOf, stringOf, toJsonText } from '../../lib/unknown-values.ts'
import { phrase } from '../../model/phrase.ts'
import { fileIdOf, toTextPart } from '../content.ts'
import type { Role } from '../message.ts'
import type { Profile } from '../profile.ts'
import { pickKnownFields } from './legal-names.ts'
import { OMITTED_PHRASE, type ReportProblem } from './problem.ts'

/** @returns a text, a list that is not empty, or the profile's form of empty content */
export function shapeContent(content: unknown, role: Role, profile: Profile, report: ReportProblem): unknown {
  if (content === undefined || content === null || typeof content === 'string') return content
  if (!Array.isArray(content)) {
    report(
      '.content',
      'content_type',
      phrase('The content is neither a string nor a list of parts.', '内容が文字列でも部分の一覧でもありません。'),
      phrase('writes it as JSON text', 'JSON の文字列として書く'),
    )
    return toJsonText(content)
  }
  const parts = content.flatMap((part, at) =>
    shapePart(part, role, profile, (path, ...rest) => report(`.content[${at}]${path}`, ...rest)),
  )
  if (parts.length > 0) return parts
  report(
    '.content',
    'content_empty',
    phrase('The content is an empty list.', '内容が空の一覧です。'),
    phrase('removes the list', '一覧を省く'),
  )
  return null
}

function shapePart(given: unknown, role: Role, profile: Profile, report: ReportProblem): readonly Fields[] {
  const part = toTypedPart(given, report)
  if (!part) return []
  const type = String(part['type'])
  const shape = SHAPE_BY_TYPE.get(type)
  const shaped = shape ? shape(part, report) : part
  if (!shaped) {
    report(
      '',
      'part_empty',
      phrase(`A part of type ${type} is empty.`, `種類 ${type} の部分が空です。`),
      phrase('removes the part', 'その部分を省く'),
    )
    return []
  }
  if (profile.parts[role].includes(type)) {
    if (type !== 'image_url' || acceptsImage(imageUrlOf(shaped), profile))
      return [pickKnownPart(shaped, profile, report)]
    report(
      '.image_url.url',
      'image_refused',
      phrase(`${profile.label} does not accept this image.`, `${profile.label} はこの画像を受け付けません。`),
      phrase('replaces it with a note', '注記に置き換える'),
    )
  } else {
    const what = phrase(
      `${profile.label} accepts no part of type ${type} with role ${role}.`,
      `${profile.label} はロール ${role} から種類 ${type} の部分を受け付けません。`,
    )
    report(
      '',
      'part_refused',
      what,
      type === 'refusal'
        ? phrase('converts it to a string', '文字列にする')
        : phrase('replaces it with a note', '注記に置き換える'),
    )
  }
  return [toTextPart(describePart(shaped)) as unknown as Fields]
}

/** Names of the Responses API. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['input_text', 'text'],
  ['output_text', 'text'],
  ['input_image', 'image_url'],
  ['input_file', 'file'],
])

/** Used to infer the type of a part that has none. */
const TYPES_BY_KEY = ['text', 'image_url', 'input_audio', 'file', 'refusal'] as const

function toTypedPart(given: unknown, report: ReportProblem): Fields | undefined {
  if (typeof given === 'string') {
    report(
      '',
      'part_type',
      phrase('A part is a plain string.', '部分が文字列のままです。'),
      phrase('wraps it in a text part', '文字列の部分にする'),
    )
    return { type: 'text', text: given }
  }
  const part = fieldsOf(given)
  const declared = nonEmptyStringOf(part?.['type'])
  if (part && declared !== undefined && !ALIASES.has(declared)) return part
  const type = ALIASES.get(declared ?? '') ?? TYPES_BY_KEY.find((key) => part?.[key] !== undefined)
  const repair =
    type === undefined
      ? phrase('removes the part', 'その部分を省く')
      : phrase(`converts it to a part of type ${type}`, `種類 ${type} の部分にする`)
  report(
    '.type',
    'part_type',
    phrase(
      'The type of a part is missing or not part of chat completions.',
      '部分の種類がないか、Chat Completions のものではありません。',
    ),
    repair,
  )
  return part && type !== undefined ? { ...part, type } : undefined
}

/** Normalizes each known type; undefined for an empty part. */
const SHAPE_BY_TYPE: ReadonlyMap<string, (part: Fields, report: ReportProblem) => Fields | undefined> = new Map([
  ['text', (part: Fields, report: ReportProblem) => shapeText(part, 'text', report)],
  ['refusal', (part: Fields, report: ReportProblem) => shapeText(part, 'refusal', report)],
  ['image_url', shapeImage],
  ['input_audio', shapeAudio],
  ['file', shapeFile],
])

function shapeAudio(part: Fields): Fields | undefined {
  const audio = fieldsOf(part['input_audio'])
  return nonEmptyStringOf(audio?.['data']) && nonEmptyStringOf(audio?.['format']) ? part : undefined
}

function shapeText(part: Fields, key: string, report: ReportProblem): Fields | undefined {
  const text = part[key]
  if (typeof text === 'string') return text === '' ? undefined : part
  const { value, ...rest } = part
  const declared = text ?? value
  if (declared === undefined || declared === null || declared === '') return undefined
  report(
    `.${key}`,
    'part_type',
    phrase(
      `The text of a part is not a string, or not in \`${key}\`.`,
      `部分の文字列が文字列でないか、\`${key}\` にありません。`,
    ),
    phrase('moves it there as text', '文字列としてそこに書く'),
  )
  return { ...rest, [key]: stringOf(declared) ?? toJsonText(declared) }
}

function shapeImage(part: Fields, report: ReportProblem): Fields | undefined {
  const address = nonEmptyStringOf(part['image_url'])
  if (address !== undefined)
    report(
      '.image_url',
      'image_form',
      phrase('An image is a plain URL.', '画像がアドレスだけです。'),
      phrase('writes it as an object', 'オブジェクトとして書く'),
    )
  const image = address === undefined ? fieldsOf(part['image_url']) : { url: address }
  if (!image || nonEmptyStringOf(image['url']) === undefined) return undefined
  const { detail, ...rest } = image
  if (detail === undefined || IMAGE_DETAILS.has(detail))
    return address === undefined ? part : { ...part, image_url: image }
  const isOriginal = detail === 'original'
  report(
    '.image_url.detail',
    'image_form',
    phrase(
      'The image detail is not a value of chat completions.',
      '画像の detail が Chat Completions のものではありません。',
    ),
    isOriginal ? phrase('sets high detail', 'high にする') : OMITTED_PHRASE,
  )
  return { ...part, image_url: isOriginal ? { ...rest, detail: 'high' } : rest }
}

const IMAGE_DETAILS: ReadonlySet<unknown> = new Set(['auto', 'low', 'high'])

function shapeFile(part: Fields, report: ReportProblem): Fields | undefined {
  const file = fieldsOf(part['file'])
  if (nonEmptyStringOf(file?.['file_id']) ?? nonEmptyStringOf(file?.['file_data'])) return part
  const { file_id, file_data, filename, ...rest } = part
  if (!nonEmptyStringOf(file_id) && !nonEmptyStringOf(file_data)) return undefined
  report(
    '',
    'file_flat',
    phrase('The fields of a file are next to its type.', 'ファイルのフィールドが種類の隣にあります。'),
    phrase('moves them into `file`', '`file` に入れる'),
  )
  const fields = Object.entries({ file_id, file_data, filename }).filter(([, value]) => nonEmptyStringOf(value))
  return { ...rest, file: Object.fromEntries(fields) }
}

function acceptsImage(url: string, { images }: Profile): boolean {
  if (/^https?:/i.test(url)) return images.remote
  const data = /^data:(?:image\/([\w.+-]+))?;base64,/i.exec(url)
  return data !== null && (images.types === undefined || images.types.includes((data[1] ?? '').toLowerCase()))
}

const imageUrlOf = (part: Fields): string => stringOf(fieldsOf(part['image_url'])?.['url']) ?? ''

/** Describes a part that is not sent, for the model and for people. */
function describePart(part: Fields): string {
  if (typeof part['refusal'] === 'string') return part['refusal']
  const url = imageUrlOf(part)
  if (url !== '') return `[image: ${url.startsWith('data:') ? url.slice(5).split(/[;,]/, 1)[0] || 'data' : url}]`
  const file = fieldsOf(part['file'])
  if (file) return `[file: ${nonEmptyStringOf(file['filename']) ?? fileIdOf(part) ?? 'data'}]`
  const format = nonEmptyStringOf(fieldsOf(part['input_audio'])?.['format'])
  return format === undefined ? `[${part['type']}]` : `[audio: ${format}]`
}

/** Any part may have cache markers for the server. */
const pickKnownPart = (part: Fields, profile: Profile, report: ReportProblem): Fields =>
  pickKnownFields(part, ['type', String(part['type']), 'prompt_cache_breakpoint'], profile, report)
