/** One message of the user by itself: sizes, emptiness, images. */
import {
  CONTEXT_ENTRY_START_HEADER,
  MAX_CURRENT_WORKING_DIRECTORY_LEN,
  MAX_IMAGE_SIZE,
  MAX_NUMBER_OF_IMAGES_PER_REQUEST,
  MAX_TOOL_RESPONSE_SIZE,
  MAX_USER_MESSAGE_SIZE,
  USER_ENTRY_START_HEADER,
} from '../../../conversation/limits.ts'
import type { ImageBlock, UserMessage } from '../../../conversation/message.ts'
import { contentWithContext, promptOf, toolUseResultsOf } from '../../../conversation/render.ts'
import { writeBlock } from '../../../conversation/truncate.ts'
import { phrase } from '../../../model/phrase.ts'
import { byteLength } from '../../../model/tokens/estimate.ts'
import type { AmazonQReport } from './rules.ts'

export function checkUserMessage(message: UserMessage, place: string, report: AmazonQReport): void {
  const prompt = promptOf(message)
  const results = toolUseResultsOf(message)
  if (prompt !== undefined) checkPrompt(prompt, `${place}.content`, report)
  if (!results && contentWithContext(message) === '')
    report('prompt_empty', `${place}.content`, phrase('It says nothing.', '内容がありません。'))
  results?.forEach(({ content }, at) => {
    const size = content.reduce((sum, block) => sum + byteLength(writeBlock(block, () => {}) ?? ''), 0)
    if (size > MAX_TOOL_RESPONSE_SIZE)
      report(
        'result_size',
        `${place}.content`,
        phrase(
          `Result ${at + 1} has ${size} bytes; ${MAX_TOOL_RESPONSE_SIZE} are taken.`,
          `結果 ${at + 1} は ${size} バイトです。上限は ${MAX_TOOL_RESPONSE_SIZE} バイトです。`,
        ),
      )
  })
  const directory = message.env_context.env_state?.current_working_directory ?? ''
  if (byteLength(directory) > MAX_CURRENT_WORKING_DIRECTORY_LEN)
    report(
      'directory_size',
      `${place}.env_context.env_state.current_working_directory`,
      phrase(
        `The path is longer than ${MAX_CURRENT_WORKING_DIRECTORY_LEN} bytes.`,
        `パスが ${MAX_CURRENT_WORKING_DIRECTORY_LEN} バイトを超えています。`,
      ),
    )
  if (message.images) checkImages(message.images, `${place}.images`, report)
}

function checkPrompt(prompt: string, place: string, report: AmazonQReport): void {
  const size = byteLength(prompt)
  if (size > MAX_USER_MESSAGE_SIZE)
    report(
      'prompt_size',
      place,
      phrase(
        `The prompt has ${size} bytes; ${MAX_USER_MESSAGE_SIZE} are taken.`,
        `依頼は ${size} バイトです。上限は ${MAX_USER_MESSAGE_SIZE} バイトです。`,
      ),
    )
  if (prompt.startsWith(CONTEXT_ENTRY_START_HEADER) || prompt.startsWith(USER_ENTRY_START_HEADER))
    report(
      'prompt_rendered',
      place,
      phrase(
        'The prompt holds the markers that are put around it when it is sent.',
        '送信時に付く印が依頼に含まれています。',
      ),
    )
}

function checkImages(images: readonly ImageBlock[], place: string, report: AmazonQReport): void {
  if (images.length > MAX_NUMBER_OF_IMAGES_PER_REQUEST)
    report(
      'image_count',
      place,
      phrase(
        `It has ${images.length} images; ${MAX_NUMBER_OF_IMAGES_PER_REQUEST} are taken.`,
        `画像が ${images.length} 枚あります。上限は ${MAX_NUMBER_OF_IMAGES_PER_REQUEST} 枚です。`,
      ),
    )
  images.forEach((image, at) => {
    checkImage(image, `${place}[${at}]`, report)
  })
}

function checkImage({ format, source }: ImageBlock, place: string, report: AmazonQReport): void {
  if (source === 'Unknown')
    return report('image_format', place, phrase('The image has no bytes.', '画像にデータがありません。'))
  if (source.Bytes.length > MAX_IMAGE_SIZE)
    report(
      'image_size',
      place,
      phrase(
        `The image has ${source.Bytes.length} bytes; ${MAX_IMAGE_SIZE} are taken.`,
        `画像は ${source.Bytes.length} バイトです。上限は ${MAX_IMAGE_SIZE} バイトです。`,
      ),
    )
  if (!hasSignature(format, source.Bytes))
    report(
      'image_format',
      place,
      phrase(`The bytes are not those of a ${format} image.`, `${format} の画像のデータではありません。`),
    )
}

const IMAGE_SIGNATURES: Readonly<Record<string, readonly (number | undefined)[]>> = {
  Png: [0x89, 0x50, 0x4e, 0x47],
  Jpeg: [0xff, 0xd8, 0xff],
  Gif: [0x47, 0x49, 0x46, 0x38],
  Webp: [0x52, 0x49, 0x46, 0x46, undefined, undefined, undefined, undefined, 0x57, 0x45, 0x42, 0x50],
}

const hasSignature = (format: string, bytes: readonly number[]): boolean => {
  const signature = Object.hasOwn(IMAGE_SIGNATURES, format) ? IMAGE_SIGNATURES[format] : undefined
  return signature?.every((byte, at) => byte === undefined || byte === bytes[at]) ?? true
}
