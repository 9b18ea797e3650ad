/** What a tool does, by the names that agents give it. For display, statistics and conversion. */
import type { ToolCall } from './normalized.ts'

/** `read`, `write` and `edit` are of files; `search` also lists them; `plan` keeps lists of steps; `agent` starts another agent. */
export type ToolKind = 'shell' | 'read' | 'write' | 'edit' | 'search' | 'web' | 'plan' | 'agent'

/** In lower case, without `_`, `-` and `.`. Tools that do several things are listed by what they change. */
const NAMES: { readonly [kind in ToolKind]: readonly string[] } = {
  shell: [
    ...['bash', 'shell', 'localshell', 'localshellcall', 'shellcommand', 'execcommand', 'writestdin', 'containerexec'],
    ...['executebash', 'executecmd', 'executecommand', 'runshellcommand', 'runcommand', 'runterminalcmd'],
    ...['runinterminal', 'powershell', 'terminal', 'bashoutput', 'killshell', 'killbash', 'taskoutput', 'taskstop'],
    ...['readbash', 'writebash', 'stopbash', 'listbash', 'readpowershell', 'writepowershell', 'stoppowershell'],
    ...['listpowershell', 'executepwsh', 'controlbashprocess', 'controlpwshprocess', 'getprocessoutput'],
    ...['listprocesses', 'runterminalcommandv2', 'developershell', 'killbackgroundprocess'],
  ],
  read: [
    ...['read', 'fsread', 'readfile', 'readmanyfiles', 'view', 'viewfile', 'viewimage', 'viewrange', 'notebookread'],
    ...['openfile', 'cat', 'readimage', 'readtextfile', 'readmediafile', 'readmultiplefiles', 'readcode'],
    ...['readfilev2', 'listcodedefinitionnames'],
  ],
  write: ['write', 'fswrite', 'writefile', 'create', 'createfile', 'writetofile', 'savefile'],
  edit: [
    ...['edit', 'multiedit', 'notebookedit', 'applypatch', 'patch', 'replace', 'strreplace', 'strreplaceeditor'],
    ...[
      'strreplacebasededittool',
      'editfile',
      'insert',
      'searchreplace',
      'replaceinfile',
      'applydiff',
      'smartedit',
      'deletefile',
      'fsappend',
      'editcode',
      'insertcontent',
      'searchandreplace',
      'editfilev2',
      'developertexteditor',
    ],
  ],
  search: [
    ...['grep', 'glob', 'ls', 'find', 'list', 'listdirectory', 'listdir', 'listfiles', 'searchfilecontent'],
    ...[
      'grepsearch',
      'filesearch',
      'codebasesearch',
      'searchfiles',
      'ripgrep',
      'rg',
      'findfiles',
      'toolsearch',
      'codesearch',
      'listdirv2',
      'globfilesearch',
      'ripgreprawsearch',
    ],
  ],
  web: [
    'webfetch',
    'websearch',
    'websearchcall',
    'googlewebsearch',
    'fetch',
    'fetchurl',
    'browse',
    'webrun',
    'fetchcopilotclidocumentation',
    'remotewebsearch',
    'browseraction',
  ],
  plan: [
    ...['todowrite', 'todoread', 'updateplan', 'writetodos', 'todolist', 'todo', 'updatetodolist', 'exitplanmode'],
    ...['enterplanmode', 'taskcreate', 'taskupdate', 'tasklist', 'taskget', 'reporttodo', 'updatetodo', 'createplan'],
  ],
  agent: [
    'task',
    'agent',
    'spawnagent',
    'usesubagent',
    'delegate',
    'newtask',
    'codebaseinvestigator',
    'subagent',
    'invokeagent',
    'invokesubagent',
    'agentoutputtool',
    'sendmessage',
    'workflow',
    ...['readagent', 'listagents', 'writeagent'],
  ],
}

const KIND_BY_NAME: ReadonlyMap<string, ToolKind> = new Map(
  Object.entries(NAMES).flatMap(([kind, names]) => names.map((name) => [name, kind as ToolKind] as const)),
)

/** Undefined for tools of servers and others that no agent brings itself. */
export function toolKindOf({ name, namespace }: Pick<ToolCall, 'name' | 'namespace'>): ToolKind | undefined {
  if (!name || (namespace !== undefined && !OWN_NAMESPACES.has(namespace))) return undefined
  return KIND_BY_NAME.get(name.toLowerCase().replaceAll(/[_.-]/g, ''))
}

const OWN_NAMESPACES: ReadonlySet<string> = new Set(['functions', 'builtin', 'default'])

/** Names of a command in a call's arguments, most common first. */
const COMMAND_KEYS = ['command', 'cmd', 'script'] as const

/** The command that a call of a shell runs, as it was written: words or a line. */
export function commandOf(call: ToolCall): string | readonly unknown[] | undefined {
  if (toolKindOf(call) !== 'shell') return undefined
  const fields = call.arguments_json as { readonly [key: string]: unknown } | undefined
  const action = fields?.['action'] as { readonly [key: string]: unknown } | undefined
  for (const from of [fields, typeof action === 'object' ? action : undefined])
    for (const key of COMMAND_KEYS) {
      const value = from?.[key]
      if ((typeof value === 'string' && value !== '') || Array.isArray(value)) return value
    }
  return undefined
}
