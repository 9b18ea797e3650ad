/** What a typed prompt names besides files: `@diff`, `@folder/`, `@session:<id>`, `@server:uri` of an MCP server. */

import { relative } from 'node:path'
import { CONTEXT_ENTRY_END_HEADER, CONTEXT_ENTRY_START_HEADER } from '../conversation/limits.ts'
import type { ImageBlock } from '../conversation/message.ts'
import { findFilesBelow, isFolder } from '../lib/files/safe-fs.ts'
import { listProjectFiles } from '../lib/git/list-files.ts'
import { findGitProject } from '../lib/git/project.ts'
import { type Phrase, phrase } from '../model/phrase.ts'
import { resolveTypedPath } from './attachments.ts'
import type { ServerResource } from './mcp/offer.ts'
import type { ChatSession } from './session.ts'
import { isInsideFolder, resolveRealPath } from './tools/files/tool-paths.ts'
import { workTreeDiff } from './user-command.ts'

interface References {
  /** Texts that precede the prompt; empty if there are none. */
  readonly context: string
  readonly images: readonly ImageBlock[]
  readonly notes: readonly Phrase[]
}

const MAX_LENGTH = 100_000
const MAX_FILES = 500
const MAX_WALKED_FILES = 20_000

/** @param typed only what the user typed names something; piped text and saved prompts of a project do not */
export async function collectReferences(session: ChatSession, typed: string, signal: AbortSignal): Promise<References> {
  const found = [...typed.matchAll(/(?:^|\s)@(diff\b|[^\s"@:/]+:[^\s"]+|(?:~?\/|\.{0,2}\/)?[^\s"@:]*\/)(?=\s|$)/g)]
  const names = [...new Set(found.map((match) => match[1] ?? ''))]
  const texts: string[] = []
  const images: ImageBlock[] = []
  const notes: Phrase[] = []
  for (const name of names) {
    const read = await readReference(name, session, signal)
    if ('problem' in read) notes.push(phrase(`@${name}: ${read.problem.en}`, `@${name}：${read.problem.ja}`))
    else if (read.text !== undefined) {
      images.push(...(read.images ?? []))
      texts.push(`${CONTEXT_ENTRY_START_HEADER}[${name}]\n${cut(read.text)}\n${CONTEXT_ENTRY_END_HEADER}`)
      const size = read.text.length.toLocaleString('en-US')
      notes.push(phrase(`attached @${name} (${size} characters)`, `@${name} を添付（${size} 文字）`))
    }
  }
  return { context: texts.join('\n'), images, notes }
}

const cut = (text: string): string =>
  text.length <= MAX_LENGTH ? text : `${text.slice(0, MAX_LENGTH)}\n… ${text.length - MAX_LENGTH} more characters`

/** Without a text, nothing is named. */
type Reading =
  | { readonly text: string | undefined; readonly images?: readonly ImageBlock[] }
  | { readonly problem: Phrase }

async function readReference(name: string, session: ChatSession, signal: AbortSignal): Promise<Reading> {
  const { workspace } = session.setup
  if (name === 'diff') {
    const diff = await workTreeDiff(workspace.cwd, [], signal)
    if (!diff.ok) return { problem: phrase(diff.reason, diff.reason) }
    return { text: diff.text === '' ? '(no changes)' : diff.text }
  }
  if (name.startsWith('session:')) {
    const { readSession } = session.commandContext
    const read = await readSession?.(name.slice('session:'.length))
    if (read === undefined) return { problem: phrase('sessions cannot be read here', 'ここでは会話を読めません') }
    return 'problem' in read ? read : { text: read.text }
  }
  const resource = findResource(session, name)
  if (resource) {
    const read = 'en' in resource ? resource : await resource.read(signal)
    return 'en' in read ? { problem: read } : read
  }
  const folder = resolveTypedPath(name, workspace)
  if (!isFolder(folder)) return { text: undefined }
  if (!isInsideFolder(resolveRealPath(folder), resolveRealPath(workspace.cwd)))
    return { problem: phrase('it is outside of this directory', 'このディレクトリーの外にあります') }
  return { text: await listFolder(folder, workspace.cwd, signal) }
}

/** Undefined if no server has the name. A sentence may end right after it. */
function findResource({ setup }: ChatSession, name: string): ServerResource | Phrase | undefined {
  const all = setup.services.resources()
  const names = [name, name.replace(/[.,;:!?)]+$/, '')]
  const found = all.find(({ server, uri }) => names.includes(`${server}:${uri}`))
  if (found) return found
  const server = name.slice(0, name.indexOf(':'))
  return all.some((one) => one.server === server)
    ? phrase(
        `no such resource. Type /mcp ${server} for a list`,
        `リソースがありません。/mcp ${server} で一覧を見られます`,
      )
    : undefined
}

/** Without files that git ignores, where git knows the folder, and without hidden ones elsewhere. */
async function listFolder(folder: string, cwd: string, signal: AbortSignal): Promise<string> {
  const project = findGitProject(cwd)
  const known = project && (await listProjectFiles(project, cwd, ['--cached', '--others', '--', folder], { signal }))
  const files = known && known.length > 0 ? [...new Set(known)].sort() : walkFolder(folder, cwd)
  const more = files.length - MAX_FILES
  const lines = files.slice(0, MAX_FILES)
  return ['Files (read them with a tool):', ...lines, ...(more > 0 ? [`… ${more} more`] : [])].join('\n')
}

function walkFolder(folder: string, cwd: string): readonly string[] {
  const files: string[] = []
  for (const path of findFilesBelow(folder, /^[^.]/)) {
    const below = relative(cwd, path)
    if (!/(?:^|[\\/])\.[^.\\/]/.test(below)) files.push(below)
    if (files.length === MAX_WALKED_FILES) break
  }
  return files
}
