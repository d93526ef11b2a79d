/** Plans of assets: a picture with sensors on it. */
export { PLAN_SCHEMAS, type PlanDeps, planRoutes } from './routes.ts';
export { createPlanStore } from './store.ts';
