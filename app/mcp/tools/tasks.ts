/**
 * MCP tasks (the extension io.modelcontextprotocol/tasks, SEP-2663): a host that has them gets a task for a long call,
 * and polls it by itself. The id of the task is the execution's, so any server with the same key answers.
 */
import {
  CLIENT_CAPABILITIES_META_KEY,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server';
import * as z from 'zod';
import { type ToolAnswer, value } from '../answers.ts';
import { type Execution, MarketplaceError } from '../market.ts';
import { ExecutionId, isOpen, outcomeOf } from '../shapes.ts';
import { answerFor } from './executionAnswer.ts';
import type { Tools } from './tool.ts';

export const TASKS = 'io.modelcontextprotocol/tasks';
const POLL_MS = 2_000;
/** A call that takes longer becomes a task. */
export const TASK_AFTER_MS = 5_000;

const TaskParams = z.looseObject({ taskId: ExecutionId });

export function addTasks({ server, market, session }: Tools): void {
  const mcp = server.server;
  mcp.setRequestHandler('tasks/get', { params: TaskParams }, async ({ taskId }) => {
    const execution = await read(market, taskId);
    session.saw(execution);
    const task = taskOf(execution);
    return task.status === 'working' ? task : { ...task, result: answerFor(execution) };
  });
  // A call that is paid for cannot be stopped, and no task asks for input.
  mcp.setRequestHandler('tasks/cancel', { params: TaskParams }, async ({ taskId }) => {
    await read(market, taskId);
    return {};
  });
  mcp.setRequestHandler('tasks/update', { params: TaskParams }, async ({ taskId }) => {
    await read(market, taskId);
    return {};
  });
}

/** True if the host of this request polls tasks. */
export function hasTasks(ctx: ServerContext): boolean {
  const envelope = ctx.mcpReq.envelope as Record<string, { extensions?: object } | undefined> | undefined;
  return TASKS in (envelope?.[CLIENT_CAPABILITIES_META_KEY]?.extensions ?? {});
}

/** The answer of a call in progress, as a task. It still fits the output schema of the tool. */
export function asTask(execution: Execution): ToolAnswer {
  return { ...value(outcomeOf(execution)), resultType: 'task', ...taskOf(execution) };
}

function taskOf(execution: Execution) {
  const { execution_id, initiated_at, completed_at } = execution;
  return {
    taskId: execution_id,
    // A refunded call is a completed task: its result is the error that the tool would have answered.
    status: isOpen(execution) ? 'working' : 'completed',
    createdAt: initiated_at,
    lastUpdatedAt: completed_at ?? new Date().toISOString(),
    ttlMs: null,
    pollIntervalMs: POLL_MS,
  };
}

async function read({ request }: Tools['market'], id: string): Promise<Execution> {
  try {
    return await request('getExecution', { execution_id: id });
  } catch (error) {
    if (!(error instanceof MarketplaceError)) throw error;
    // A host takes InvalidParams as an unknown task, and stops to poll it.
    const isUnknown = error.code === 'execution_not_found';
    const code = isUnknown ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError;
    throw new ProtocolError(code, `${error.message} (${error.code})`);
  }
}
