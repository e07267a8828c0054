import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { TipProvider } from '../kit/tip.tsx';
import { Toasts } from '../kit/toasts.tsx';
import { queryClient } from './query-client.ts';
import { router } from './router.tsx';

export const App = () => (
  <QueryClientProvider client={queryClient}>
    <TipProvider>
      <RouterProvider router={router} />
      <Toasts />
    </TipProvider>
  </QueryClientProvider>
);
