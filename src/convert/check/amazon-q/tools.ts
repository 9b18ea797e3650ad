/** The tools that a conversation lists, and the names that tools may have. */
import { DUMMY_TOOL_NAME } from '../../../conversation/limits.ts'
import type { Tools } from '../../../conversation/record.ts'
import { phrase } from '../../../model/phrase.ts'
import { byteLength } from '../../../model/tokens/estimate.ts'
import type { AmazonQReport } from './rules.ts'

const NAME = /^[A-Za-z][A-Za-z0-9_]*$/
const LONGEST_NAME = 64
/** A longer one is cut by the program; one that is stored was cut already. */
const LONGEST_DESCRIPTION = 10_004

export const isToolName = (name: string): boolean => NAME.test(name) && name.length <= LONGEST_NAME

/** @returns the names of the tools; nothing where none are listed, which the program fills in when it resumes */
export function checkTools(tools: Tools, report: AmazonQReport): ReadonlySet<string> | undefined {
  const names = new Set<string>()
  for (const [origin, list] of tools) {
    list.forEach(({ ToolSpecification: { name, description } }, at) => {
      const place = `$.tools[${JSON.stringify(origin)}][${at}]`
      if (!isToolName(name)) report('tool_name', `${place}.name`, NAME_RULE)
      if (name !== DUMMY_TOOL_NAME && names.has(name))
        report('tool_name', `${place}.name`, phrase('Two tools have this name.', '同じ名前のツールが 2 つあります。'))
      if (description === '' || byteLength(description) > LONGEST_DESCRIPTION)
        report(
          'tool_description',
          `${place}.description`,
          phrase(
            `A description has 1 to ${LONGEST_DESCRIPTION} bytes.`,
            `説明は 1〜${LONGEST_DESCRIPTION} バイトです。`,
          ),
        )
      names.add(name)
    })
  }
  return names.size === 0 ? undefined : names
}

export const NAME_RULE = phrase(
  `The name of a tool is a letter and up to ${LONGEST_NAME - 1} letters, digits or underscores.`,
  `ツールの名前は、英字で始まる英数字と下線で ${LONGEST_NAME} 文字までです。`,
)

/** Whether the program finds the tool of a past use among those it has now. */
export function isListed(name: string, original: string, listed: ReadonlySet<string>): boolean {
  if (listed.has(name) || listed.has(original)) return true
  return [...listed].filter((one) => one !== DUMMY_TOOL_NAME && one.endsWith(name)).length === 1
}
