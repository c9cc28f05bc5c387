/** Where the signed log of a tree is, below the tree. */

/** The folder of a tree's log. Other trees have others, so that no log is taken for another one. */
export const logFolder = (treeId: string): string => `log/${treeId}`;

/** The newest head of the log, as a signed note. */
export const checkpointFile = (treeId: string): string => `${logFolder(treeId)}/checkpoint`;
