/** The tools that a conversation lists, and the names that tools may have. */
import { DUMMY_TOOL_NAME } from '../../../conversation/limits.ts'
import type { Tools } from '../../../conversation/record.ts'
import { phrase } from '../../../model/phrase.ts'
import { byteLength } from '../../../model/tokens/token-estimate.ts'
import type { AmazonQReport } from './rules.ts'

const TOOL_NAME = /^[A-Za-z][A-Za-z0-9_]*$/
const MAX_NAME_LENGTH = 64
/** A longer one is cut by the program; one that is stored was cut already. */
const MAX_STORED_DESCRIPTION_BYTES = 10_004

export const isToolName = (name: string): boolean => TOOL_NAME.test(name) && name.length <= MAX_NAME_LENGTH

/** @returns the names of the tools; nothing where none are listed, which the program fills in when it resumes */
export function checkTools(tools: Tools, report: AmazonQReport): ReadonlySet<string> | undefined {
  const names = new Set<string>()
  for (const [origin, list] of tools) {
    list.forEach(({ ToolSpecification: { name, description } }, at) => {
      const place = `$.tools[${JSON.stringify(origin)}][${at}]`
      if (!isToolName(name)) report('tool_name', `${place}.name`, TOOL_NAME_MESSAGE)
      if (name !== DUMMY_TOOL_NAME && names.has(name))
        report('tool_name', `${place}.name`, phrase('Two tools have this name.', '同じ名前のツールが 2 つあります。'))
      if (description === '' || byteLength(description) > MAX_STORED_DESCRIPTION_BYTES)
        report(
          'tool_description',
          `${place}.description`,
          phrase(
            `A description has 1 to ${MAX_STORED_DESCRIPTION_BYTES} bytes.`,
            `説明は 1〜${MAX_STORED_DESCRIPTION_BYTES} バイトです。`,
          ),
        )
      names.add(name)
    })
  }
  return names.size === 0 ? undefined : names
}

export const TOOL_NAME_MESSAGE = phrase(
  `The name of a tool is a letter and up to ${MAX_NAME_LENGTH - 1} letters, digits or underscores.`,
  `ツールの名前は、英字で始まる英数字と下線で ${MAX_NAME_LENGTH} 文字までです。`,
)

/** Whether the program finds the tool of a past use among those it has now. */
export function isListedTool(name: string, original: string, listed: ReadonlySet<string>): boolean {
  if (listed.has(name) || listed.has(original)) return true
  return [...listed].filter((one) => one !== DUMMY_TOOL_NAME && one.endsWith(name)).length === 1
}
