/** Calls of tools that a model writes as tags into its text: `<read_file><path>a.ts</path></read_file>`. */

export interface ToolText {
  readonly name: string
  readonly input: { readonly [name: string]: string }
}

/** Tools that Cline and Roo Code describe to the model. Other tags are text. */
const TOOLS = [
  ...['execute_command', 'read_file', 'write_to_file', 'replace_in_file', 'apply_diff', 'insert_content'],
  ...['search_and_replace', 'search_files', 'list_files', 'list_code_definition_names', 'browser_action'],
  ...['use_mcp_tool', 'access_mcp_resource', 'ask_followup_question', 'attempt_completion', 'new_task', 'web_fetch'],
  ...[
    'switch_mode',
    'update_todo_list',
    'plan_mode_respond',
    'codebase_search',
    'fetch_instructions',
    'load_mcp_documentation',
  ],
].join('|')

/** The last one of an answer may be cut. */
const TOOL = new RegExp(`<(${TOOLS})>([\\s\\S]*?)(?:</\\1>|$)`, 'g')

/** Text and calls, in order. */
export function findTools(text: string): readonly (string | ToolText)[] {
  const parts: (string | ToolText)[] = []
  let at = 0
  for (const found of text.matchAll(TOOL)) {
    const [all, name = '', body = ''] = found
    if (found.index > at) parts.push(text.slice(at, found.index))
    parts.push({ name, input: parametersIn(body) })
    at = found.index + all.length
  }
  if (at < text.length) parts.push(text.slice(at))
  return parts
}

function parametersIn(body: string): { readonly [name: string]: string } {
  const input: { [name: string]: string } = {}
  for (let at = 0; ; ) {
    const open = PARAMETER.exec(body.slice(at))
    if (!open) break
    const [tag, name = ''] = open
    const start = at + open.index + tag.length
    // A file's content may hold tags of its own, so the last closing tag ends it.
    const end =
      name === 'content' || name === 'diff' ? body.lastIndexOf(`</${name}>`) : body.indexOf(`</${name}>`, start)
    const value = body.slice(start, end < start ? undefined : end)
    Object.defineProperty(input, name, { value: value.replace(/^\n|\n$/g, ''), enumerable: true, configurable: true })
    if (end < start) break
    at = end + name.length + 3
  }
  return input
}

const PARAMETER = /<([a-z_]+)>/
