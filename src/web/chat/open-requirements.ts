/** What the server wants from the user before a chat can be opened. */
import type { ChatDirectoryNeeded, ChatTrust } from '../../model/api/chat.ts'
import type { RequestProblem } from '../api/client.ts'

export const directoryNeedOf = ({ code, meta }: RequestProblem): ChatDirectoryNeeded | undefined =>
  code === 'directory_needed' ? (meta as unknown as ChatDirectoryNeeded) : undefined

export const trustNeedOf = ({ code, meta }: RequestProblem): ChatTrust | undefined =>
  code === 'trust_needed' ? (meta?.['trust'] as ChatTrust) : undefined
