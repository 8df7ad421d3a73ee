/** Reads the error body of anything that was thrown. */
export { errorBody } from '../ipc/error';
