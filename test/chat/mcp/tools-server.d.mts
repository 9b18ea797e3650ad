import type { Server } from '@modelcontextprotocol/sdk/server/index.js'
export declare function toolsServer(mode?: string): Server
