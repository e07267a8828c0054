/** True in development, and in builds that show the page of owned components. */
declare const __DEV_ROUTES__: boolean;
